// Exposure, a curve and dither on the way to the screen.
// entries: vertex=vertex_main fragment=fragment_main
enable f16;
override kCurve : u32 = 1;
override kDither = true;
override kWhite : f32 = 4.0;
@group(0) @binding(0) var image : texture_2d<f32>;
@group(0) @binding(1) var nearest : sampler;
@group(0) @binding(2) var<uniform> exposure : f32;
fn reinhard(x : vec3f) -> vec3f { return x * (1 + x / (kWhite * kWhite)) / (1 + x); }
fn filmic(x : vec3f) -> vec3f {
  const a = 2.51;
  const b = 0.03;
  return saturate(x * (a * x + b) / (x * (2.43 * x + 0.59) + 0.14));
}
fn hash(at : vec2u) -> f32 {
  let word = (at.x * 1597334677u) ^ (at.y * 3812015801u);
  return f32(word * 1597334677u) * (1.0 / 4294967296.0);
}
@vertex fn vertex_main(@builtin(vertex_index) i : u32) -> @builtin(position) vec4f {
  return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
@fragment fn fragment_main(@builtin(position) place : vec4f) -> @location(0) vec4f {
  let size = vec2f(textureDimensions(image));
  var colour = textureSample(image, nearest, place.xy / size).rgb * exposure;
  switch kCurve {
    case 0u { }
    case 1u { colour = filmic(colour); }
    default { colour = reinhard(colour); }
  }
  let gamma = pow(colour, vec3f(1 / 2.2));
  let noise = f16(hash(vec2u(place.xy))) - 0.5h;
  return vec4f(gamma + select(0.0, f32(noise) / 255.0, kDither), 1);
}
