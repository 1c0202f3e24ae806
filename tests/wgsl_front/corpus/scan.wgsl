// Prefix sums of a block whose size is an override.
// entries: compute=scan_main
override block_size : u32 = 64;
var<workgroup> sums : array<u32, block_size>;
@group(0) @binding(0) var<storage, read_write> values : array<u32>;
@group(0) @binding(1) var<storage, read_write> totals : array<u32>;
@compute @workgroup_size(block_size)
fn scan_main(@builtin(local_invocation_index) local : u32, @builtin(workgroup_id) group : vec3u,
             @builtin(num_workgroups) groups : vec3u) {
  let at = group.x * block_size + local;
  let own = values[at];
  sums[local] = own;
  for (var step = 1u; step < block_size; step *= 2u) {
    workgroupBarrier();
    var other = 0u;
    if local >= step { other = sums[local - step]; }
    workgroupBarrier();
    sums[local] += other;
  }
  workgroupBarrier();
  values[at] = sums[local] - own;
  if local == block_size - 1u { totals[group.x % groups.x] = sums[local]; }
}
