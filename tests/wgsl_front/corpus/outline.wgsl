// Edges between what is in front, and colours of two targets mixed by one blend.
// entries: vertex=vertex_main fragment=fragment_main
enable dual_source_blending;
@group(0) @binding(0) var identities : texture_2d<u32>;
@group(0) @binding(1) var depths : texture_depth_multisampled_2d;
struct Blend { @location(0) @blend_src(0) colour : vec4f, @location(0) @blend_src(1) factor : vec4f, }
@vertex fn vertex_main(@builtin(vertex_index) i : u32) -> @builtin(position) vec4f {
  return vec4f(select(-1.0, 3.0, i == 1), select(-1.0, 3.0, i == 2), 0.5, 1);
}
@fragment fn fragment_main(@builtin(position) at : vec4f) -> Blend {
  let here = vec2i(at.xy);
  let own = textureLoad(identities, here, 0).r;
  var differs = 0u;
  for (var i = 0; i < 9; i += 1) {
    let near = textureLoad(identities, here + vec2i(i % 3, i / 3) - 1, 0).r;
    differs += u32(near != own);
  }
  let depth = textureLoad(depths, here, 0) - textureLoad(depths, here, 1);
  let edge = f32(differs) / 9.0 + abs(depth) * 10;
  return Blend(vec4f(vec3f(edge), 1), vec4f(1 - edge));
}
