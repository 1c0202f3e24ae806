// Shadows by moments: written once, blurred, and asked with Chebyshev's bound.
// run: vertex=vs_shadow fragment=ps_moments
// run: fragment=ps_lit
cbuffer Shadow : register(b0) {
    float4x4 LightViewProj;
    float4x4 World;
    float LightBleed;
    float MinVariance;
    float2 Exponents;
};
Texture2D<float4> Moments : register(t0);
SamplerState Aniso : register(s0);

struct V2F {
    float4 position : SV_Position;
    float2 depth : DEPTH;
};
V2F vs_shadow(float4 position : POSITION) {
    V2F o;
    o.position = mul(LightViewProj, mul(World, position));
    o.depth = o.position.zw;
    return o;
}
float2 Warp(float depth) {
    depth = depth * 2 - 1;
    return float2(exp(Exponents.x * depth), -exp(-Exponents.y * depth));
}
float4 ps_moments(V2F i) : SV_Target {
    float2 w = Warp(i.depth.x / i.depth.y);
    float2 dx = ddx_fine(w), dy = ddy_fine(w);
    float2 second = w * w + 0.25 * (dx * dx + dy * dy);
    return float4(w.x, second.x, w.y, second.y);
}
float Chebyshev(float2 moments, float mean, float minimum) {
    float variance = max(moments.y - moments.x * moments.x, minimum);
    float d = mean - moments.x;
    float p = variance / (variance + d * d);
    p = saturate((p - LightBleed) / (1 - LightBleed));
    return mean <= moments.x ? 1.0 : p;
}
float4 ps_lit(float4 position : SV_Position, float3 world : WORLD) : SV_Target {
    float4 p = mul(LightViewProj, float4(world, 1));
    p.xyz /= p.w;
    float2 uv = p.xy * float2(0.5, -0.5) + 0.5;
    float4 m = Moments.Sample(Aniso, uv);
    float2 w = Warp(p.z);
    float2 scale = MinVariance * Exponents * w;
    float lit = min(Chebyshev(m.xy, w.x, scale.x * scale.x), Chebyshev(m.zw, w.y, scale.y * scale.y));
    return float4(lit.xxx, 1);
}
