// Ambient occlusion in screen space, from depth alone.
// run: fragment=ps_main
#define SAMPLES 16
cbuffer SSAO : register(b0) {
    float4x4 Projection;
    float4x4 InverseProjection;
    float4 Kernel[SAMPLES];
    float2 NoiseScale;
    float Radius;
    float Bias;
    float Power;
}
Texture2D<float> DepthTexture : register(t0);
Texture2D<float3> NormalTexture : register(t1);
Texture2D<float2> NoiseTexture : register(t2);
SamplerState PointSampler : register(s0);
SamplerState WrapSampler : register(s1);

float3 ReconstructView(float2 uv, float depth) {
    float4 clip = float4(uv * 2 - 1, depth, 1);
    clip.y = -clip.y;
    float4 view = mul(InverseProjection, clip);
    return view.xyz / view.w;
}

float ps_main(in float4 position : SV_Position, in float2 uv : TEXCOORD) : SV_Target {
    const float depth = DepthTexture.SampleLevel(PointSampler, uv, 0);
    [branch]
    if (depth >= 1.0)
        return 1.0;
    const float3 origin = ReconstructView(uv, depth);
    const float3 normal = normalize(NormalTexture.Sample(PointSampler, uv) * 2.0 - 1.0);
    const float3 random = float3(NoiseTexture.Sample(WrapSampler, uv * NoiseScale), 0);
    const float3 tangent = normalize(random - normal * dot(random, normal));
    const float3x3 basis = { tangent, cross(normal, tangent), normal };

    float occlusion = 0.0;
    for (int i = 0; i < SAMPLES; ++i) {
        float3 at = mul(Kernel[i].xyz, basis) * Radius + origin;
        float4 offset = mul(Projection, float4(at, 1.0));
        offset.xyz /= offset.w;
        float2 st = offset.xy * float2(0.5, -0.5) + 0.5;
        float3 hit = ReconstructView(st, DepthTexture.SampleLevel(PointSampler, st, 0));
        float range = smoothstep(0.0, 1.0, Radius / abs(origin.z - hit.z));
        occlusion += (hit.z <= at.z - Bias ? 1.0 : 0.0) * range;
    }
    return pow(saturate(1.0 - occlusion / SAMPLES), Power);
}
