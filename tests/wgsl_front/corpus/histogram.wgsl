// Luminances of an image, counted in workgroup memory first.
// entries: compute=count_main
@group(0) @binding(0) var image : texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> bins : array<atomic<u32>, 128>;
var<workgroup> local_bins : array<atomic<u32>, 128>;
fn luminance(colour : vec3f) -> f32 { return dot(colour, vec3f(0.2126, 0.7152, 0.0722)); }
fn bin_of(value : f32) -> u32 {
  let logarithm = clamp((log2(max(value, 1e-5)) + 10.0) / 12.0, 0.0, 1.0);
  return u32(logarithm * 126.0 + 1.0);
}
@compute @workgroup_size(16, 8)
fn count_main(@builtin(global_invocation_id) id : vec3u, @builtin(local_invocation_index) local : u32) {
  let size = textureDimensions(image, 0);
  if id.x < size.x && id.y < size.y {
    let texel = textureLoad(image, id.xy, 0);
    atomicAdd(&local_bins[bin_of(luminance(texel.rgb))], 1u);
  }
  workgroupBarrier();
  let count = atomicLoad(&local_bins[local]);
  if count != 0 { atomicAdd(&bins[local], count); }
}
