// Smallest, largest and sum of many numbers.
// entries: compute=reduce_main
struct Extent { low : f32, high : f32, sum : f32, count : u32, }
@group(0) @binding(0) var<storage, read> numbers : array<f32>;
@group(0) @binding(1) var<storage, read_write> extents : array<Extent>;
const kSize = 64u;
var<workgroup> parts : array<Extent, kSize>;
fn joined(a : Extent, b : Extent) -> Extent {
  return Extent(min(a.low, b.low), max(a.high, b.high), a.sum + b.sum, a.count + b.count);
}
@compute @workgroup_size(kSize)
fn reduce_main(@builtin(local_invocation_id) local : vec3u, @builtin(workgroup_id) group : vec3u) {
  var own = Extent(1e38, -1e38, 0, 0);
  let length = arrayLength(&numbers);
  for (var i = group.x * 1024u + local.x; i < min(length, (group.x + 1u) * 1024u); i += kSize) {
    let number = numbers[i];
    own = joined(own, Extent(number, number, number, 1));
  }
  parts[local.x] = own;
  var half = kSize / 2;
  while half > 0 {
    workgroupBarrier();
    if local.x < half { parts[local.x] = joined(parts[local.x], parts[local.x + half]); }
    half >>= 1;
  }
  if local.x == 0 { extents[group.x] = parts[0]; }
}
