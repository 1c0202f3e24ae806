// Surfaces into several targets, and depth that is written.
// entries: vertex=vertex_main fragment=fragment_main
struct Surface {
  @location(0) albedo : vec4f,
  @location(1) normal : vec4f,
  @location(2) identity : vec2u,
  @builtin(frag_depth) depth : f32,
}
struct Model { matrix : mat4x4f, normal : mat3x3f, identity : u32, roughness : f32, }
@group(0) @binding(0) var<uniform> camera : mat4x4f;
@group(0) @binding(1) var<uniform> model : Model;
@group(0) @binding(2) var albedo : texture_2d<f32>;
@group(0) @binding(3) var linear : sampler;
struct Varyings { @builtin(position) place : vec4f, @location(0) @interpolate(perspective, centroid) uv : vec2f, @location(1) normal : vec3f, }
@vertex fn vertex_main(@location(0) p : vec3f, @location(1) n : vec3f, @location(2) uv : vec2f) -> Varyings {
  var v : Varyings;
  v.place = camera * model.matrix * vec4f(p, 1);
  v.uv = uv;
  v.normal = model.normal * n;
  return v;
}
fn octahedral(n : vec3f) -> vec2f {
  let p = n.xy / (abs(n.x) + abs(n.y) + abs(n.z));
  let folded = (1 - abs(p.yx)) * select(vec2f(-1), vec2f(1), p >= vec2f());
  return select(folded, p, vec2<bool>(n.z >= 0));
}
@fragment fn fragment_main(in : Varyings, @builtin(sample_index) sample : u32) -> Surface {
  let n = normalize(in.normal);
  return Surface(textureSample(albedo, linear, in.uv), vec4f(octahedral(n), model.roughness, 0),
                 vec2u(model.identity, sample), in.place.z);
}
