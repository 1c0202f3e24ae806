// Light through fog in a volume, three dimensions of texture.
// entries: compute=light_main
@group(0) @binding(0) var density : texture_3d<f32>;
@group(0) @binding(1) var linear : sampler;
@group(0) @binding(2) var lit : texture_storage_3d<rgba16float, write>;
@group(0) @binding(3) var history : texture_storage_2d_array<r32float, read_write>;
struct Fog { sun : vec3f, scatter : f32, size : vec3u, frame : u32, }
@group(1) @binding(0) var<uniform> fog : Fog;
@compute @workgroup_size(4, 4, 4)
fn light_main(@builtin(global_invocation_id) id : vec3u) {
  if any(id >= fog.size) { return; }
  let texel = 1.0 / vec3f(fog.size);
  var at = (vec3f(id) + 0.5) * texel;
  var through = 1.0;
  var left = 8;
  loop {
    at += fog.sun * texel * 2.0;
    if any(at < vec3f(0)) || any(at > vec3f(1)) { break; }
    let d = textureSampleLevel(density, linear, at, 0.0).r;
    through *= exp(-d * fog.scatter);
    continuing {
      left -= 1;
      break if left == 0 || through < 0.01;
    }
  }
  let old = textureLoad(history, id.xy, id.z).r;
  let new_value = mix(old, through, 0.1);
  textureStore(history, id.xy, id.z, vec4f(new_value));
  textureStore(lit, id, vec4f(vec3f(new_value), 1));
}
