// Structs with places of their own, as wholes in every kind of memory.
// entries: compute=main
struct L { @align(16) a : f32, @size(16) b : vec3f, c : f32 }
struct G { l : array<L, 2>, @align(32) one : L, k : u32 }
@group(0) @binding(0) var<uniform> u : G;
@group(0) @binding(1) var<storage, read_write> s : G;
@group(0) @binding(2) var<storage, read_write> arr : array<L>;
var<private> p : L;
var<workgroup> w : array<G, 2>;
fn made(x : L) -> L { var y = x; y.c += 1; return y; }
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i : u32) {
  let a = u.l[i & 1];
  p = made(a);
  w[0].one = p;
  s.one = w[i & 1].l[1];
  let g = s;
  w[1] = g;
  s = w[0];
  arr[i] = u.one;
  var z = L(1, vec3f(2), 3);
  arr[i + 1] = z;
  s.l = array(z, p);
}
