// A bitonic sort of a block in workgroup memory.
// entries: compute=sort_main
const kBlock = 128u;
alias Key = u32;
struct Item { key : Key, value : u32, }
var<workgroup> block : array<Item, kBlock>;
@group(0) @binding(0) var<storage, read_write> items : array<Item>;
fn swap_if(a : u32, b : u32, up : bool) {
  let left = block[a];
  let right = block[b];
  if (left.key > right.key) == up {
    block[a] = right;
    block[b] = left;
  }
}
@compute @workgroup_size(64, 1, 1)
fn sort_main(@builtin(local_invocation_index) local : u32, @builtin(workgroup_id) group : vec3u) {
  let base = group.x * kBlock;
  block[local] = items[base + local];
  block[local + 64] = items[base + local + 64];
  for (var size = 2u; size <= kBlock; size <<= 1u) {
    for (var stride = size >> 1u; stride > 0u; stride >>= 1u) {
      workgroupBarrier();
      let low = (local / stride) * stride * 2u + local % stride;
      swap_if(low, low + stride, (low & size) == 0u);
    }
  }
  workgroupBarrier();
  items[base + local] = block[local];
  items[base + local + 64u] = block[local + 64u];
}
