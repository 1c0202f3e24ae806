// Corners that follow bones, with weights packed in words.
// entries: vertex=vertex_main fragment=fragment_main
struct Bones { matrices : array<mat4x4f>, }
@group(0) @binding(0) var<storage, read> bones : Bones;
@group(0) @binding(1) var<uniform> view_projection : mat4x4f;
struct Corner {
  @location(0) position : vec3f,
  @location(1) normal : vec3f,
  @location(2) joints : u32,
  @location(3) weights : u32,
}
struct Varyings {
  @builtin(position) place : vec4f,
  @location(0) normal : vec3f,
  @location(1) @interpolate(flat, either) bone : u32,
}
fn skin(joints : vec4u, weights : vec4f) -> mat4x4f {
  var sum = bones.matrices[joints.x] * weights.x;
  sum += bones.matrices[joints.y] * weights.y;
  sum = sum + bones.matrices[joints.z] * weights.z;
  return sum + weights.w * bones.matrices[joints.w];
}
@vertex fn vertex_main(corner : Corner) -> Varyings {
  let joints = unpack4xU8(corner.joints);
  let weights = unpack4x8unorm(corner.weights);
  let world = skin(joints, weights / dot(weights, vec4f(1)));
  let normal = transpose(mat3x3f(world[0].xyz, world[1].xyz, world[2].xyz));
  return Varyings(view_projection * world * vec4f(corner.position, 1), corner.normal * normal, joints.x);
}
@fragment fn fragment_main(in : Varyings) -> @location(0) vec4f {
  let hue = f32(in.bone % 7u) / 7.0;
  let colour = clamp(abs(fract(hue + vec3f(0, 2, 1) / 3.0) * 6.0 - 3.0) - 1.0, vec3f(0), vec3f(1));
  return vec4f(colour * (0.3 + 0.7 * max(normalize(in.normal).y, 0.0)), 1.0);
}
