// Noise for materials: cells, gradients, octaves, in the dialect of 2018.
// run: fragment=ps_marble
// run: fragment=ps_cells
// hlsl: version=2018
cbuffer Noise : register(b0) {
    float4 g_ColorA;
    float4 g_ColorB;
    float g_Frequency;
    float g_Gain;
    float g_Lacunarity;
    int g_Octaves;
    float g_Time;
}
float2 hash22(float2 p) {
    float3 p3 = frac(p.xyx * float3(.1031, .1030, .0973));
    p3 += dot(p3, p3.yzx + 33.33);
    return frac((p3.xx + p3.yz) * p3.zy);
}
float hash12(float2 p) {
    float3 p3 = frac(float3(p.xyx) * .1031);
    p3 += dot(p3, p3.yzx + 33.33);
    return frac((p3.x + p3.y) * p3.z);
}
float value_noise(float2 p) {
    float2 i = floor(p), f = frac(p);
    f = f * f * (3 - 2 * f);
    return lerp(lerp(hash12(i), hash12(i + float2(1, 0)), f.x), lerp(hash12(i + float2(0, 1)), hash12(i + float2(1, 1)), f.x), f.y);
}
float fbm(float2 p) {
    float sum = 0, amplitude = 0.5;
    [loop] for (int i = 0; i < g_Octaves; i++) {
        sum += amplitude * value_noise(p);
        p = mul(float2x2(0.8, 0.6, -0.6, 0.8), p) * g_Lacunarity;
        amplitude *= g_Gain;
    }
    return sum;
}
float3 voronoi(float2 x) {
    float2 n = floor(x), f = frac(x), mg, mr;
    float md = 8;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            float2 g = float2(i, j);
            float2 o = 0.5 + 0.5 * sin(g_Time + 6.2831 * hash22(n + g));
            float2 r = g + o - f;
            float d = dot(r, r);
            if (d < md) {
                md = d;
                mr = r;
                mg = g;
            }
        }
    return float3(sqrt(md), mr + mg * 0);
}
float4 ps_marble(float4 pos : SV_Position, float2 uv : TEXCOORD0) : SV_Target {
    float2 p = uv * g_Frequency;
    float2 q = float2(fbm(p), fbm(p + float2(5.2, 1.3)));
    float f = fbm(p + 4 * q);
    return lerp(g_ColorA, g_ColorB, saturate(f * f * 4)) * (f > 0.2 && q.x > 0.1 ? 1 : 0.9);
}
float4 ps_cells(float4 pos : SV_Position, float2 uv : TEXCOORD0) : SV_Target {
    float3 c = voronoi(uv * g_Frequency);
    float4 color = lerp(g_ColorA, g_ColorB, c.x);
    color.rgb *= 0.5 + 0.5 * cos(c.y * 8 + float3(0, 2, 4));
    return color;
}
