// Steps of light, an outline by a pushed hull.
// run: vertex=vs_outline fragment=ps_outline
// run: vertex=vs_main fragment=ps_toon
cbuffer Toon : register(b0) {
    float4x4 WorldViewProj;
    float4x4 World;
    float4 OutlineColor;
    float3 LightDirection;
    float OutlineWidth;
    int Steps;
};
Texture2D Ramp : register(t0);
Texture2D Base : register(t1);
SamplerState Clamp : register(s0);
struct VIn { float3 p : POSITION; float3 n : NORMAL; float2 uv : TEXCOORD; };
struct VOut { float4 p : SV_Position; float3 n : NORMAL; float2 uv : TEXCOORD; };
float4 vs_outline(VIn v) : SV_Position {
    float4 p = mul(WorldViewProj, float4(v.p, 1));
    float3 n = mul((float3x3)WorldViewProj, v.n);
    p.xy += normalize(n.xy) * OutlineWidth * p.w;
    return p;
}
float4 ps_outline() : SV_Target { return OutlineColor; }
VOut vs_main(VIn v) {
    VOut o = { mul(WorldViewProj, float4(v.p, 1)), mul((float3x3)World, v.n), v.uv };
    return o;
}
float4 ps_toon(VOut i) : SV_Target {
    float light = dot(normalize(i.n), -LightDirection) * 0.5 + 0.5;
    float stepped = floor(light * Steps) / Steps;
    return Base.Sample(Clamp, i.uv) * Ramp.Sample(Clamp, float2(stepped, 0.5));
}
