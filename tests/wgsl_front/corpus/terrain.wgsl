// Ground of four layers, blended by slope and a mask.
// entries: vertex=vertex_main fragment=fragment_main
struct View { matrix : mat4x4f, eye : vec3f, fog : f32, fog_colour : vec4f, }
@group(0) @binding(0) var<uniform> view : View;
@group(1) @binding(0) var heights : texture_2d<f32>;
@group(1) @binding(1) var layers : texture_2d_array<f32>;
@group(1) @binding(2) var mask : texture_2d<f32>;
@group(1) @binding(3) var wrapped : sampler;
const kScale = 128.0;
struct Varyings { @builtin(position) place : vec4f, @location(0) uv : vec2f, @location(1) world : vec3f, }
fn height(uv : vec2f) -> f32 { return textureSampleLevel(heights, wrapped, uv, 0.0).r * 20.0; }
@vertex fn vertex_main(@location(0) uv : vec2f) -> Varyings {
  let world = vec3f(uv.x * kScale, height(uv), uv.y * kScale);
  return Varyings(view.matrix * vec4f(world, 1.0), uv, world);
}
fn layer(image : texture_2d_array<f32>, how : sampler, uv : vec2f, index : i32) -> vec3f {
  let near = textureSample(image, how, uv * 64.0, index).rgb;
  let far = textureSampleBias(image, how, uv * 7.0, index, 1.0).rgb;
  return near * far * 2.0;
}
@fragment fn fragment_main(in : Varyings) -> @location(0) vec4f {
  let across = vec2f(dpdx(in.world.y), dpdy(in.world.y));
  let normal = normalize(cross(dpdy(in.world), dpdx(in.world)));
  let weights = textureSample(mask, wrapped, in.uv);
  var colour = vec3f();
  colour += layer(layers, wrapped, in.uv, 0) * weights.r;
  colour += layer(layers, wrapped, in.uv, 1) * weights.g;
  colour += layer(layers, wrapped, in.uv, 2) * weights.b;
  colour += layer(layers, wrapped, in.uv, 3) * weights.a;
  let steep = smoothstep(0.6, 0.8, normal.y) - 0.1 * min(length(across), 1.0);
  let distance = length(in.world - view.eye);
  let fog = 1.0 - exp2(-view.fog * distance);
  return mix(vec4f(colour * steep, 1.0), view.fog_colour, fog);
}
