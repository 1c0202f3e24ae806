// Operators of every kind on scalars, vectors and matrices.
static int counter = 0;

int integers(int a, int b, uint c, uint d) {
    int sum = a + b - (a * b) / (b | 1) % 7;
    uint bits = (c & d) | (c ^ ~d) << 3;
    bits >>= 2u;
    bits <<= d & 31;
    bits &= 0xFFFF;
    bits |= 1u;
    bits ^= c;
    sum += a << 2;
    sum -= -b >> 1;
    sum *= 3;
    sum /= 2;
    sum %= 1000;
    counter++;
    --counter;
    return sum + int(bits) + (a < b ? a : b) + !a;
}

bool logic(bool p, bool q, float x, float y) {
    bool r = p && !q || x < y && x != y;
    r = r ? x <= y : x >= y;
    if (!(p == q)) {
        r = !r;
    } else if (x > y) {
        r = true;
    } else {
        r = false;
    }
    return r;
}

float4 vectors(float4 v, float s, float2x2 m) {
    float4 r = v * s + v.wzyx / (1 + s) - float4(s, v.xy, 1).yxwz;
    r.xy = mul(m, r.xy);
    r.zw += mul(r.zw, m);
    r[0] = r[int(s) & 3];
    r.a = dot(r.rgb, v.rgb);
    ++r;
    r--;
    r %= 4.0;
    return -r;
}

float3x3 matrices(float3x3 a, float3x3 b) {
    float3x3 c = a * b + 2 * a - b / 3;
    c[0] = c[1].zyx;
    c._m00_m11_m22 = float3(1, 2, 3);
    c._12 = c[2][0];
    c += mul(a, b);
    return -c++;
}

float conversions(int i, uint u, bool b, double d, half h) {
    float f = i;
    f += u + b;
    f += (float)d * h;
    int3 v = (int3)float4(f, 1.5, -2.5, 0);
    f += v.x + (float)(uint)v.y + (bool)v.z;
    float2 shorter = (float2)v;
    return f + shorter.x + (i, u, f);
}

float4 main(float4 at : SV_Position) : SV_Target {
    float x = integers(int(at.x), 3, 4u, 5u);
    if (logic(at.x > 1, true, at.y, at.z))
        x += 1;
    float4 r = vectors(at, x, float2x2(1, 2, 3, 4));
    float3x3 m = matrices((float3x3)x, (float3x3)1);
    return r + float4(m[0], conversions(1, 2, true, 3.0L, 4.0h));
}
