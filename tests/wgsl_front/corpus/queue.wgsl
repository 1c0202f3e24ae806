// Work that is taken by compare and exchange, and a value that all invocations agree on.
// entries: compute=take_main
struct Queue { head : atomic<u32>, tail : u32, lock : atomic<u32>, items : array<u32, 64>, }
@group(0) @binding(0) var<storage, read_write> queue : Queue;
@group(0) @binding(1) var<storage, read_write> results : array<u32>;
var<workgroup> taken : u32;
fn acquire() -> bool {
  for (var tries = 0; tries < 16; tries++) {
    let result = atomicCompareExchangeWeak(&queue.lock, 0u, 1u);
    if result.exchanged { return true; }
    if result.old_value > 1u { return false; }
  }
  return false;
}
@compute @workgroup_size(16) fn take_main(@builtin(local_invocation_index) local : u32) {
  if local == 0u {
    if acquire() {
      taken = atomicLoad(&queue.head);
      if taken < queue.tail { atomicStore(&queue.head, taken + 1u); }
      _ = atomicExchange(&queue.lock, 0u);
    }
  }
  let item = workgroupUniformLoad(&taken);
  results[local] = queue.items[item % 64u] + atomicOr(&queue.lock, 0u) + atomicMin(&queue.head, 100u);
  storageBarrier();
}
