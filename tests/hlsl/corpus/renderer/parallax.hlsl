// Relief by marching through a height map.
// run: fragment=ps_main
cbuffer Parallax : register(b0) {
    float HeightScale;
    float MinSamples;
    float MaxSamples;
    float ShadowSoftness;
    float3 LightTangent;
};
Texture2D HeightMap : register(t0);
Texture2D ColorMap : register(t1);
SamplerState Aniso : register(s0);
struct PSIn {
    float4 position : SV_Position;
    float2 uv : TEXCOORD0;
    float3 view_tangent : TEXCOORD1;
    float3 normal : TEXCOORD2;
};
float2 Trace(float2 uv, float3 view, float2 dx, float2 dy, out float reached) {
    float steps = lerp(MaxSamples, MinSamples, saturate(view.z));
    float step_size = 1.0 / steps;
    float2 delta = view.xy / view.z * HeightScale * step_size;
    float height = 1.0, previous = 0, current = 0;
    float2 offset = 0;
    int i = 0;
    [loop]
    while (i < (int)steps) {
        current = HeightMap.SampleGrad(Aniso, uv + offset, dx, dy).r;
        if (current > height)
            break;
        previous = current;
        height -= step_size;
        offset -= delta;
        ++i;
    }
    float before = height + step_size - previous;
    float after = current - height;
    reached = height;
    return offset + delta * after / max(after + before, 1e-4);
}
float4 ps_main(PSIn input) : SV_Target {
    float2 dx = ddx(input.uv), dy = ddy(input.uv);
    float height;
    float2 uv = input.uv + Trace(input.uv, normalize(input.view_tangent), dx, dy, height);
    float shadow = 1;
    [unroll]
    for (int i = 1; i <= 8; ++i) {
        float h = HeightMap.SampleGrad(Aniso, uv + LightTangent.xy * i * 0.01, dx, dy).r;
        shadow = min(shadow, 1 - saturate((h - height - i * 0.1) * ShadowSoftness));
    }
    return float4(ColorMap.SampleGrad(Aniso, uv, dx, dy).rgb * shadow, 1);
}
