// Inverses of many matrices, written by hand.
// entries: compute=invert_main
alias M3 = mat3x3<f32>;
struct Job { m : M3, scale : vec2f, }
@group(0) @binding(0) var<storage, read> jobs : array<Job>;
@group(0) @binding(1) var<storage, read_write> done : array<M3>;
const kIdentity = M3(1, 0, 0, 0, 1, 0, 0, 0, 1);
fn inverse(m : M3) -> M3 {
  let d = determinant(m);
  if abs(d) < 1e-8 { return kIdentity; }
  let columns = M3(cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1]));
  return transpose(columns) * (1 / d);
}
fn scaled(by : vec2f) -> M3 {
  var m = kIdentity;
  m[0][0] = by.x;
  m[1].y = by.y;
  return m;
}
@compute @workgroup_size(32) fn invert_main(@builtin(global_invocation_id) id : vec3u) {
  let index = id.x;
  if index >= arrayLength(&jobs) { return; }
  var m = inverse(jobs[index].m * scaled(jobs[index].scale));
  for (var column = 0; column < 3; column++) {
    for (var row = 0; row < 3; row++) {
      if !(abs(m[column][row]) < 1e6) { m[column][row] = 0; }
    }
  }
  done[index] = -m + m * 2.0;
}
