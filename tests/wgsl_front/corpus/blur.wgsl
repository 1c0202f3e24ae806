// A separable blur of a row through workgroup memory.
// entries: compute=blur_main
override kRadius : u32 = 4;
const kTile = 64u;
struct Weights {
  values : array<vec4f, 4>,
}
@group(0) @binding(0) var source : texture_2d<f32>;
@group(0) @binding(1) var target_image : texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(2) var<uniform> weights : Weights;
var<workgroup> tile : array<vec4f, kTile + 16>;

fn weight(offset : u32) -> f32 {
  return weights.values[offset / 4][offset % 4];
}

@compute @workgroup_size(kTile)
fn blur_main(@builtin(global_invocation_id) id : vec3u, @builtin(local_invocation_index) local : u32) {
  let size = textureDimensions(source);
  let last = vec2i(size) - 1;
  let at = clamp(vec2i(id.xy) - vec2i(8, 0), vec2i(), last);
  tile[local] = textureLoad(source, at, 0);
  if local < 16 {
    tile[local + kTile] = textureLoad(source, clamp(at + vec2i(i32(kTile), 0), vec2i(), last), 0);
  }
  workgroupBarrier();
  var sum = tile[local + 8] * weight(0);
  for (var i = 1u; i <= kRadius; i += 1u) {
    sum += (tile[local + 8 - i] + tile[local + 8 + i]) * weight(i);
  }
  if all(id.xy < size) {
    textureStore(target_image, id.xy, sum);
  }
}
