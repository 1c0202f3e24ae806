// Baked light: two textures of coordinates, directions, a probe grid for what moves.
// run: fragment=ps_static
// run: fragment=ps_dynamic
cbuffer Baked : register(b0) {
    float4 LightmapScaleOffset;
    float3 GridMin;
    float GridSpacing;
    uint3 GridSize;
    float Intensity;
};
Texture2DArray Lightmaps : register(t0);
Texture2D Albedo : register(t1);
StructuredBuffer<float4> Probes : register(t2);
SamplerState Linear : register(s0);
struct Lit { float4 position : SV_Position; float2 uv : TEXCOORD0; float2 uv2 : TEXCOORD1; float3 normal : NORMAL; float3 world : WORLD; nointerpolation uint page : PAGE; };
float3 DecodeRGBM(float4 c) { return c.rgb * (c.a * 6); }
float4 ps_static(Lit i) : SV_Target {
    float2 uv = i.uv2 * LightmapScaleOffset.xy + LightmapScaleOffset.zw;
    float3 light = DecodeRGBM(Lightmaps.Sample(Linear, float3(uv, i.page * 2)));
    float4 direction = Lightmaps.Sample(Linear, float3(uv, i.page * 2 + 1));
    float half_lambert = dot(i.normal, direction.xyz - 0.5) + 0.5;
    light *= half_lambert / max(1e-4, direction.w);
    return float4(Albedo.Sample(Linear, i.uv).rgb * light * Intensity, 1);
}
float3 Probe(uint3 cell, float3 n) {
    cell = min(cell, GridSize - 1);
    uint base = (cell.x + GridSize.x * (cell.y + GridSize.y * cell.z)) * 4;
    float4 basis = float4(0.282095, 0.488603 * n.y, 0.488603 * n.z, 0.488603 * n.x);
    return Probes[base].rgb * basis.x + Probes[base + 1].rgb * basis.y + Probes[base + 2].rgb * basis.z + Probes[base + 3].rgb * basis.w;
}
float4 ps_dynamic(Lit i) : SV_Target {
    float3 at = max((i.world - GridMin) / GridSpacing, 0);
    uint3 cell = uint3(at);
    float3 f = frac(at);
    float3 sum = 0;
    [unroll]
    for (uint k = 0; k < 8; ++k) {
        uint3 o = uint3(k, k >> 1, k >> 2) & 1;
        float3 w = lerp(1 - f, f, o);
        sum += Probe(cell + o, i.normal) * w.x * w.y * w.z;
    }
    return float4(Albedo.Sample(Linear, i.uv).rgb * max(sum, 0), 1);
}
