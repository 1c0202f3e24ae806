// Gradient noise and its octaves.
// entries: compute=noise_main
struct Request { size : vec2u, octaves : u32, gain : f32, lacunarity : f32, seed : i32, }
@group(0) @binding(0) var<uniform> request : Request;
@group(0) @binding(1) var<storage, read_write> out : array<f32>;
fn hash(at : vec2i) -> u32 {
  var h = (bitcast<u32>(at.x) * 0x9e3779b9u) ^ (bitcast<u32>(at.y) * 0x85ebca6bu) ^ u32(request.seed);
  h ^= h >> 16;
  h *= 0x7feb352du;
  h ^= h >> 15;
  return h * 0x846ca68bu;
}
fn gradient(at : vec2i) -> vec2f {
  let angle = f32(hash(at) & 0xffffu) * (6.2831853 / 65536.0);
  return vec2f(cos(angle), sin(angle));
}
fn noise(at : vec2f) -> f32 {
  let cell = vec2i(floor(at));
  let in_cell = fract(at);
  let fade = in_cell * in_cell * in_cell * (in_cell * (in_cell * 6.0 - 15.0) + 10.0);
  var corners : array<f32, 4>;
  for (var i = 0; i < 4; i++) {
    let step = vec2i(i & 1, i >> 1);
    corners[i] = dot(gradient(cell + step), in_cell - vec2f(step));
  }
  return mix(mix(corners[0], corners[1], fade.x), mix(corners[2], corners[3], fade.x), fade.y);
}
@compute @workgroup_size(8, 8)
fn noise_main(@builtin(global_invocation_id) id : vec3u) {
  if any(id.xy >= request.size) { return; }
  var at = vec2f(id.xy) / 32.0;
  var weight = 1.0;
  var sum = 0f;
  var left = request.octaves;
  while left > 0 {
    sum += noise(at) * weight;
    at *= request.lacunarity;
    weight *= request.gain;
    left--;
  }
  out[id.y * request.size.x + id.x] = sum;
}
