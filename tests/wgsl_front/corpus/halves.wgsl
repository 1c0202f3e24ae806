// Arithmetic of 16 bits, and values that are kept in 32.
// entries: compute=halves_main
enable f16;
@group(0) @binding(0) var<storage, read> given : array<vec4f>;
@group(0) @binding(1) var<storage, read_write> made : array<vec4f>;
const kBias : f16 = 0.25h;
fn curve(x : vec4h) -> vec4h { return x * x * (3.0h - 2.0h * x) + kBias; }
@compute @workgroup_size(8) fn halves_main(@builtin(global_invocation_id) id : vec3u) {
  let x = vec4h(saturate(given[id.x]));
  let y = curve(x);
  let m = mat2x2h(y.xy, y.zw);
  made[id.x] = vec4f(max(x, y)) + vec4f(vec4h(m * x.xy, x.zw)) + f32(dot(x, y));
}
