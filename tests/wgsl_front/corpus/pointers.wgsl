// Pointers to every kind of memory as arguments.
// entries: compute=pointers_main
requires unrestricted_pointer_parameters;
struct Pair { a : f32, b : array<u32, 4>, }
struct Data { total : atomic<i32>, pairs : array<Pair>, }
@group(0) @binding(0) var<storage, read_write> data : Data;
var<workgroup> shared_sum : atomic<u32>;
var<workgroup> cache : array<f32, 8>;
var<private> calls = 0;
fn add(to : ptr<function, f32>, by : f32) { *to += by; calls++; }
fn both(pair : ptr<function, Pair>) -> u32 {
  let items = &(*pair).b;
  var sum = 0u;
  for (var i = 0; i < 4; i++) { sum += (*items)[i]; (*items)[i] = sum; }
  pair.a = f32(sum);
  return sum;
}
fn count(cell : ptr<workgroup, atomic<u32>>, by : u32) -> u32 { return atomicAdd(cell, by); }
fn total(items : ptr<workgroup, array<f32, 8>>) -> f32 {
  var sum = 0.0;
  for (var i = 0; i < 8; i++) { sum += items[i]; }
  return sum;
}
fn bump(counter : ptr<private, i32>) { *counter = *counter + 2; }
fn length_of(pairs : ptr<storage, array<Pair>, read_write>) -> u32 { return arrayLength(pairs); }
@compute @workgroup_size(8)
fn pointers_main(@builtin(local_invocation_index) local : u32) {
  var x = 1.5;
  add(&x, 2.0);
  let p = &x;
  add(p, 1.0);
  var pair = Pair(x, array(1u, 2u, 3u, local));
  let sum = both(&pair);
  cache[local] = pair.a;
  let before = count(&shared_sum, sum);
  workgroupBarrier();
  bump(&calls);
  let all = total(&cache);
  if local < length_of(&data.pairs) {
    data.pairs[local].a = all + f32(before);
    data.pairs[local].b[calls & 3] = pair.b[local & 3];
    let slot = &data.pairs[local].b;
    (*slot)[1] += 1u;
  }
  atomicSub(&data.total, i32(sum));
}
