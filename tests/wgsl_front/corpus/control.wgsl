// Every kind of statement, and values that are indexed.
// entries: compute=main
struct Inner { v : vec3f, k : array<u32, 3>, }
struct Outer { a : Inner, b : array<Inner, 2>, m : mat2x2f, flag : u32 }
const kInner = Inner(vec3f(1, 2, 3), array(1u, 2u, 3u));
const kOuter = Outer(kInner, array(kInner, Inner()), mat2x2f(1, 2, 3, 4), 1);
const kTable = array<array<f32, 3>, 2>(array(1, 2, 3), array<f32, 3>(4, 5, 6));
var<private> state : Outer = kOuter;
var<private> lookup : array<vec2f, 4> = array(vec2f(1), vec2f(2), vec2f(), vec2f(4, 5));
var<private> seed = 7u;
@group(0) @binding(0) var<storage, read_write> out : array<f32>;
@group(0) @binding(1) var<uniform> index : vec4u;
@compute @workgroup_size(1) fn main() {
  var local = kOuter;
  local.b[index.x].v[index.y] = 3.5;
  local.b[index.x].k[index.y] += 2u;
  local.m[index.z][index.w] *= 2.0;
  local.m[1].x = local.m[0][1];
  state.a.v.y = 4;
  let copy = local;
  out[0] = copy.b[index.y].v.x + kTable[index.x][index.y] + kOuter.b[index.x].v[index.y];
  out[1] = state.b[index.x].v.z + lookup[index.w].y + f32(seed);
  let t = array(copy.a, copy.b[0]);
  out[2] = t[index.x].v.x;
  let s = vec4f(1, 2, 3, 4)[index.x] + mat2x2f(1, 2, 3, 4)[index.x][index.y];
  out[3] = s;
  var i = 0;
  while true {
    i++;
    if i == 3 { continue; }
    switch i {
      case 1: { continue; }
      case 2, 5: { out[4] = f32(i); break; }
      case 9: { return; }
      default: { if i > 10 { break; } }
    }
    if i > 12 { break; }
  }
  loop {
    let k = i * 2;
    var z = 4.0;
    let p = &local.a.k[1];
    z += f32(k);
    if z > 100 { return; }
    continuing {
      i += k;
      *p += u32(z);
      out[5] = z;
      break if k > 60;
    }
  }
  { let i = 4.0; out[6] = i; }
  const c = max(2, 3) + i32(sqrt(16.0));
  out[7] = f32(c);
  var b4 = vec4<bool>(true, false, index.x > 1, !(index.y < 2));
  b4.y = (any(b4) && all(b4.xz)) || b4[index.x];
  out[8] = select(0.0, 1.0, b4.y);
  _ = local.flag;
  for (;;) { if out[9] > 1 { break; } out[9] += 1; }
}
