// Transparency without order: weights into two targets, then put together.
// run: fragment=ps_accumulate
// run: fragment=ps_resolve
cbuffer Blend : register(b0) { float4 Tint; float DepthScale; };
Texture2D Albedo : register(t0);
Texture2D<float4> Accumulated : register(t1);
Texture2D<float> Revealed : register(t2);
SamplerState Linear : register(s0);
struct Out { float4 accumulated : SV_Target0; float revealed : SV_Target1; };
Out ps_accumulate(float4 position : SV_Position, float2 uv : TEXCOORD0, float4 color : COLOR0) {
    float4 c = Albedo.Sample(Linear, uv) * Tint * color;
    float z = position.z * DepthScale;
    float w = clamp(pow(min(1.0, c.a * 10.0) + 0.01, 3.0) * 1e8 * pow(1.0 - z * 0.9, 3.0), 1e-2, 3e3);
    Out o;
    o.accumulated = float4(c.rgb * c.a, c.a) * w;
    o.revealed = c.a;
    return o;
}
float4 ps_resolve(float4 position : SV_Position) : SV_Target {
    int3 at = int3(position.xy, 0);
    float revealed = Revealed.Load(at);
    if (revealed == 1)
        discard;
    float4 sum = Accumulated.Load(at);
    if (any(isinf(abs(sum))))
        sum.rgb = sum.aaa;
    return float4(sum.rgb / max(sum.a, 1e-5), 1 - revealed);
}
