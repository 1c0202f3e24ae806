// What is known where the module is read.
// entries: compute=main
const a = 1 + 2 * 3 - 4 / 2 % 3;
const_assert a == 5;
const_assert 7 / 2 == 3 && -7 / 2 == -3 && -7 % 3 == -1;
const_assert 0x10 == 16 && 1e3 == 1000.0 && 0x1p-1 == 0.5 && 1.5e-1f < 0.2f;
const_assert (1u << 31u) == 0x80000000u && (-8 >> 1u) == -4;
const_assert 4294967295u + 1u == 0u;
const_assert all(vec3(1, 2, 3) * 2 == vec3(2, 4, 6));
const_assert dot(vec2f(3, 4), vec2f(3, 4)) == 25;
const_assert length(vec2(3.0, 4.0)) == 5;
const_assert mat2x2(1, 2, 3, 4)[1].x == 3;
const_assert all(mat2x2f(1, 2, 3, 4) * vec2f(1, 1) == vec2f(4, 6));
const_assert determinant(mat3x3(2, 0, 0, 0, 3, 0, 0, 0, 4)) == 24;
const_assert countLeadingZeros(1u) == 31 && firstLeadingBit(-1) == -1 && reverseBits(1u) == 0x80000000u;
const_assert extractBits(0xf0u, 4u, 4u) == 15u && extractBits(0xf0, 4, 4) == -1 && insertBits(0u, 3u, 4u, 2u) == 0x30u;
const_assert pack4x8unorm(vec4f(1, 0, 1, 0)) == 0x00ff00ffu;
const_assert bitcast<u32>(1.0f) == 0x3f800000u && bitcast<f32>(0x40000000u) == 2.0;
const_assert i32(3.99) == 3 && u32(true) == 1u && f32(false) == 0.0 && bool(2);
const_assert clamp(5, 1, 3) == 3 && mix(1.0, 3.0, 0.5) == 2.0 && select(1, 2, true) == 2;
const_assert modf(1.5).whole == 1.0 && frexp(8.0).exp == 4;
const_assert array(1, 2, 3)[1] == 2 && vec4(1, 2, 3, 4).wzyx.x == 4;
const_assert ldexp(1.0, 3) == 8.0 && sign(-2) == -1 && abs(-3) == 3;
const_assert -2147483648 == i32(-2147483648);
const_assert smoothstep(0.0, 1.0, 0.5) == 0.5 && fract(1.25) == 0.25 && round(2.5) == 2.0;
const_assert normalize(vec2(0.0, 2.0)).y == 1.0 && cross(vec3(1.0, 0, 0), vec3(0, 1.0, 0)).z == 1;
override o = 3;
@compute @workgroup_size(a, o) fn main() {}
