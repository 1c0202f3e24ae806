// Every numeric function that a shader may need, once.
// entries: compute=functions_main
struct Made { f : array<vec4f, 24>, u : array<vec4u, 12>, i : array<vec4i, 8>, }
@group(0) @binding(0) var<storage, read> x : array<vec4f>;
@group(0) @binding(1) var<storage, read_write> made : Made;
@compute @workgroup_size(1) fn functions_main() {
  let a = x[0];
  let b = x[1];
  let c = abs(x[2]) + 1.0;
  made.f[0] = acos(clamp(a, vec4f(-1), vec4f(1))) + asin(saturate(b)) + atan(a) + atan2(a, c);
  made.f[1] = cosh(a) + sinh(a) + tanh(b) + acosh(c) + asinh(a) + atanh(saturate(b) * 0.5);
  made.f[2] = ceil(a) + floor(b) + round(a) + trunc(b) + fract(a) + sign(b);
  made.f[3] = exp(a) + exp2(b) + log(c) + log2(c) + sqrt(c) + inverseSqrt(c) + pow(c, b);
  made.f[4] = degrees(a) + radians(b) + fma(a, b, c) + mix(a, b, c) + mix(a, b, 0.5);
  made.f[5] = step(a, b) + smoothstep(a, a + c, b) + min(a, b) + max(b, c);
  made.f[6] = vec4f(cross(a.xyz, b.xyz), dot(a, b));
  made.f[7] = vec4f(distance(a, b), length(a), length(a.x), distance(a.x, b.x));
  made.f[8] = normalize(c) + reflect(a, normalize(c)) + refract(normalize(a), normalize(c), 0.9) + faceForward(a, b, c);
  let parts = modf(a);
  let binary = frexp(b.x);
  made.f[9] = parts.fract * parts.whole + ldexp(a, vec4i(2)) + binary.fract * f32(binary.exp);
  let m = mat4x4f(a, b, c, vec4f(0, 0, 0, 1));
  made.f[10] = vec4f(determinant(m)) + transpose(m) * a + a * m;
  let n = mat2x3f(a.xyz, b.xyz);
  made.f[11] = vec4f(n * a.xy, 1) + vec4f(b.xyz * n, 0, 0) + vec4f((mat3x2f(n[0].xy, n[1].yz, a.xy) * a.xyz), 1, 1);
  made.f[12] = quantizeToF16(a) + unpack4x8snorm(pack4x8snorm(a)) + unpack4x8unorm(pack4x8unorm(a));
  made.f[13] = vec4f(unpack2x16float(pack2x16float(a.xy)), unpack2x16snorm(pack2x16snorm(a.zw))) + vec4f(unpack2x16unorm(pack2x16unorm(b.xy)), 0, 0);
  made.f[14] = select(a, b, a < b) + select(vec4f(1), vec4f(2), any(a == b)) + f32(all(a != b));
  made.f[15] = -a % b + (a - 1) / c;
  let u = vec4u(abs(a));
  let i = vec4i(b);
  made.u[0] = countOneBits(u) + countLeadingZeros(u) + countTrailingZeros(u) + reverseBits(u);
  made.u[1] = firstLeadingBit(u) + firstTrailingBit(u) + extractBits(u, 3u, 7u) + insertBits(u, u.wzyx, 4u, 9u);
  made.u[2] = ((u << vec4u(3)) ^ (u >> (u & vec4u(31)))) | ~u;
  made.u[3] = vec4u(dot4U8Packed(u.x, u.y), pack4xU8(u), pack4xU8Clamp(u), pack4xI8Clamp(i)) + unpack4xU8(u.z);
  made.u[4] = min(u, u.yxwz) + max(u, 4 * u) + clamp(u, vec4u(1), vec4u(9)) + u / u.yzwx + u % vec4u(7);
  made.i[0] = abs(i) + sign(i) + countLeadingZeros(i) + firstLeadingBit(i) + (i >> vec4u(2)) + (i << vec4u(1));
  made.i[1] = vec4i(dot4I8Packed(u.x, u.y), dot(i, i.wzyx), bitcast<i32>(a.x), i.x / i.y) + unpack4xI8(pack4xI8(i));
  made.i[2] = i % i.yzwx + extractBits(i, 2u, 5u) + min(i, -i) + clamp(i, vec4i(-5), vec4i(5));
}
