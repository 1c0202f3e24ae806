// Edges of an image by gathered texels.
// entries: compute=edges_main
@group(0) @binding(0) var image : texture_2d<f32>;
@group(0) @binding(1) var depth : texture_depth_2d;
@group(0) @binding(2) var clamped : sampler;
@group(0) @binding(3) var<storage, read_write> edges : array<vec4f>;
@compute @workgroup_size(8, 4, 2)
fn edges_main(@builtin(global_invocation_id) id : vec3u) {
  let size = textureDimensions(image);
  let uv = (vec2f(id.xy) + 0.5) / vec2f(size);
  let reds = textureGather(0, image, clamped, uv);
  let greens = textureGather(1, image, clamped, uv, vec2i(1, -1));
  let depths = textureGather(depth, clamped, uv);
  let d = vec4f(reds.x - reds.y, greens.z - greens.w, depths.x - depths.z,
                f32(textureNumLevels(image)));
  edges[min(id.y * size.x + id.x, arrayLength(&edges) - 1)] = abs(d) + textureLoad(depth, id.xy, 0);
}
