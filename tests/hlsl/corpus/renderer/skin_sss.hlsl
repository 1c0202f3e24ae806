// Skin: a blur by distance and depth, twice, with profiles in constants.
// run: fragment=ps_blur
#define SAMPLES 11
cbuffer Profile : register(b0) {
    float4 Kernel[SAMPLES];
    float2 Direction;
    float Width;
    float DistanceToProjection;
};
Texture2D Color : register(t0);
Texture2D<float> Depth : register(t1);
Texture2D<uint> Stencil : register(t2);
SamplerState Linear : register(s0);
SamplerState Point : register(s1);
float4 ps_blur(float4 position : SV_Position, float2 uv : TEXCOORD) : SV_Target {
    if (Stencil.Load(int3(position.xy, 0)) != 1)
        discard;
    float4 center = Color.SampleLevel(Point, uv, 0);
    float depth = Depth.SampleLevel(Point, uv, 0);
    float2 step = Width * DistanceToProjection / depth * Direction * center.a;
    float4 blurred = float4(center.rgb * Kernel[0].rgb, center.a);
    [unroll]
    for (int i = 1; i < SAMPLES; i++) {
        float2 at = uv + Kernel[i].a * step;
        float4 c = Color.SampleLevel(Linear, at, 0);
        float d = Depth.SampleLevel(Linear, at, 0);
        c.rgb = lerp(c.rgb, center.rgb, saturate(300 * DistanceToProjection * Width * abs(depth - d)));
        blurred.rgb += Kernel[i].rgb * c.rgb;
    }
    return blurred;
}
