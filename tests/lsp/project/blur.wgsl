// SPDX-License-Identifier: MIT
struct Kernel { radius: u32, weights: vec4<f32> }
@group(0) @binding(0) var<uniform> kernel: Kernel;
@group(0) @binding(1) var<storage, read_write> picture: array<vec4<f32>>;
fn weight(step: u32) -> f32 { return kernel.weights[step]; }
@compute @workgroup_size(64)
fn blur(@builtin(global_invocation_id) id: vec3<u32>) {
  var sum = vec4<f32>(0.0);
  for (var step = 0u; step < kernel.radius; step++) {
    sum += picture[id.x + step] * weight(step);
  }
  picture[id.x] = sum;
}
