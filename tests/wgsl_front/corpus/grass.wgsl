// Blades that bend in the wind, drawn as strips.
// entries: vertex=vertex_main fragment=fragment_main
struct Field { matrix : mat4x4f, wind : vec2f, time : f32, height : f32, }
@group(0) @binding(0) var<uniform> field : Field;
@group(0) @binding(1) var<storage, read> blades : array<vec4f>;
struct Varyings { @builtin(position) place : vec4f, @location(0) share : f32, @location(1) @interpolate(flat) tint : vec3f, }
const kSegments = 4u;
fn bend(share : f32, phase : f32) -> vec3f {
  let sway = sin(field.time * 2.0 + phase) * 0.2 + 0.4;
  let along = field.wind * sway * share * share;
  return vec3f(along.x, share * field.height * (1 - 0.3 * dot(along, along)), along.y);
}
@vertex fn vertex_main(@builtin(vertex_index) vertex : u32, @builtin(instance_index) blade : u32) -> Varyings {
  let data = blades[blade];
  let share = f32(vertex / 2u) / f32(kSegments);
  let side = select(-1.0, 1.0, (vertex & 1u) == 1u) * 0.02 * (1 - share);
  let angle = data.w;
  let across = vec3f(cos(angle), 0, sin(angle)) * side;
  let place = data.xyz + across + bend(share, data.x + data.z);
  let tint = mix(vec3f(0.1, 0.3, 0.05), vec3f(0.4, 0.6, 0.1), fract(angle * 7.13));
  return Varyings(field.matrix * vec4f(place, 1), share, tint);
}
@fragment fn fragment_main(in : Varyings) -> @location(0) vec4f {
  return vec4f(in.tint * (0.4 + 0.6 * in.share), 1);
}
