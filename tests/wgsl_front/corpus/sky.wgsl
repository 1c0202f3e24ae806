// A sky of scattered light on a triangle that covers the screen.
// entries: vertex=vertex_main fragment=fragment_main
const kPi = 3.14159265359;
const kSteps = 16;
const kRayleigh = vec3f(5.8e-3, 13.5e-3, 33.1e-3);
const kMie = 21e-3;
struct Sun { direction : vec3f, power : f32, colour : vec3f, height : f32, }
@group(0) @binding(0) var<uniform> sun : Sun;
@group(0) @binding(1) var<uniform> inverse_view : mat4x4<f32>;
struct Varyings { @builtin(position) place : vec4f, @location(0) @interpolate(linear) ray : vec2f }
@vertex fn vertex_main(@builtin(vertex_index) index : u32) -> Varyings {
  let uv = vec2f(f32((index << 1u) & 2u), f32(index & 2u));
  return Varyings(vec4f(uv * 2.0 - 1.0, 0.0, 1.0), uv * 2.0 - 1.0);
}
fn phase_mie(cosine : f32) -> f32 {
  const g = 0.76;
  const g2 = g * g;
  return (1.0 - g2) / (4.0 * kPi * pow(1.0 + g2 - 2.0 * g * cosine, 1.5));
}
fn phase_rayleigh(cosine : f32) -> f32 { return 3.0 / (16.0 * kPi) * (1.0 + cosine * cosine); }
fn density(height : f32, scale : f32) -> f32 { return exp(-max(height, 0.0) / scale); }
@fragment fn fragment_main(in : Varyings) -> @location(0) vec4f {
  let far = inverse_view * vec4f(in.ray, 1.0, 1.0);
  let ray = normalize(far.xyz / far.w);
  let cosine = dot(ray, sun.direction);
  var depth = vec2f();
  var sum = vec3f();
  let length = 80.0 / f32(kSteps);
  for (var i = 0; i < kSteps; i++) {
    let height = sun.height + ray.y * (f32(i) + 0.5) * length;
    depth += vec2f(density(height, 8.0), density(height, 1.2)) * length;
    let through = exp(-(kRayleigh * depth.x + kMie * depth.y));
    sum += through * (kRayleigh * phase_rayleigh(cosine) + vec3f(kMie * phase_mie(cosine)));
  }
  return vec4f(1.0 - exp(-sum * sun.power * sun.colour), 1.0);
}
