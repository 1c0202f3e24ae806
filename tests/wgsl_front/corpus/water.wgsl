// Waves that move corners, and the mirrored sky on them.
// entries: vertex=vertex_main fragment=fragment_main
struct Wave { direction : vec2f, length : f32, height : f32, }
struct Sea { matrix : mat4x4f, eye : vec4f, waves : array<Wave, 4>, time : f32, }
@group(0) @binding(0) var<uniform> sea : Sea;
@group(0) @binding(1) var sky : texture_cube<f32>;
@group(0) @binding(2) var smooth_sampler : sampler;
struct Varyings { @builtin(position) place : vec4f, @location(0) world : vec3f, @location(1) normal : vec3f, }
fn moved(at : vec2f) -> array<vec3f, 2> {
  var place = vec3f(at.x, 0, at.y);
  var slope = vec2f(0);
  for (var i = 0u; i < 4u; i = i + 1u) {
    let wave = sea.waves[i];
    let k = 6.2831853 / wave.length;
    let phase = k * dot(wave.direction, at) + sqrt(9.81 * k) * sea.time;
    let steep = wave.height * k;
    place += vec3f(wave.direction.x * cos(phase), sin(phase), wave.direction.y * cos(phase)) * wave.height;
    slope += wave.direction * steep * cos(phase);
  }
  return array<vec3f, 2>(place, normalize(vec3f(-slope.x, 1, -slope.y)));
}
@vertex fn vertex_main(@location(0) at : vec2f) -> Varyings {
  let point = moved(at);
  return Varyings(sea.matrix * vec4f(point[0], 1), point[0], point[1]);
}
@fragment fn fragment_main(in : Varyings, @builtin(front_facing) front : bool) -> @location(0) vec4f {
  let normal = select(-in.normal, in.normal, front);
  let view = normalize(in.world - sea.eye.xyz);
  let mirrored = reflect(view, normal);
  let fresnel = 0.02 + 0.98 * pow(1.0 - max(dot(-view, normal), 0.0), 5.0);
  let above = textureSample(sky, smooth_sampler, mirrored).rgb;
  let below = textureSampleLevel(sky, smooth_sampler, refract(view, normal, 0.75), 3.0).rgb * vec3f(0.1, 0.3, 0.35);
  return vec4f(mix(below, above, fresnel), 1);
}
