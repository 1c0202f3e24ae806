// A lit pixel: metal and roughness, cascaded shadows, clustered point lights, an environment.
// run: fragment=ps_main
#define PI 3.14159265359
#define CASCADES 4
#define CLUSTER_X 16
#define CLUSTER_Y 9
#define CLUSTER_Z 24

struct PointLight {
    float3 position;
    float radius;
    float3 color;
    float intensity;
};

struct Cluster {
    uint offset;
    uint count;
};

cbuffer PerFrame : register(b0) {
    float4x4 View;
    float4x4 ViewProjection;
    float3 CameraPosition;
    float Time;
    float2 ScreenSize;
    float NearPlane;
    float FarPlane;
};

cbuffer Sun : register(b1) {
    float3 SunDirection;
    float SunIntensity;
    float3 SunColor;
    float ShadowBias;
    float4x4 ShadowMatrix[CASCADES];
    float4 CascadeSplits;
};

cbuffer Material : register(b2) {
    float4 BaseColorFactor;
    float3 EmissiveFactor;
    float MetallicFactor;
    float RoughnessFactor;
    float NormalScale;
    float OcclusionStrength;
    float AlphaCutoff;
    uint MaterialFlags;
};

Texture2D BaseColorMap : register(t0);
Texture2D NormalMap : register(t1);
Texture2D MetalRoughMap : register(t2);
Texture2D EmissiveMap : register(t3);
Texture2D OcclusionMap : register(t4);
Texture2DArray<float> ShadowMap : register(t5);
TextureCube IrradianceMap : register(t6);
TextureCube PrefilteredMap : register(t7);
Texture2D<float2> BrdfLut : register(t8);
StructuredBuffer<PointLight> Lights : register(t9);
StructuredBuffer<Cluster> Clusters : register(t10);
Buffer<uint> LightIndices : register(t11);

SamplerState LinearWrap : register(s0);
SamplerState LinearClamp : register(s1);
SamplerComparisonState ShadowSampler : register(s2);

static const uint FLAG_ALPHA_TEST = 1u << 0;
static const uint FLAG_NORMAL_MAP = 1u << 1;

struct VSOutput {
    float4 position : SV_Position;
    float3 worldPosition : WORLD_POSITION;
    float3 normal : NORMAL;
    float4 tangent : TANGENT;
    float2 uv : TEXCOORD0;
    float viewDepth : TEXCOORD1;
};

struct Surface {
    float3 position;
    float3 normal;
    float3 view;
    float3 albedo;
    float metallic;
    float roughness;
    float occlusion;
};

float DistributionGGX(float NdotH, float roughness) {
    float a = roughness * roughness;
    float a2 = a * a;
    float denom = NdotH * NdotH * (a2 - 1.0) + 1.0;
    return a2 / max(PI * denom * denom, 1e-6);
}

float GeometrySmith(float NdotV, float NdotL, float roughness) {
    float r = roughness + 1.0;
    float k = (r * r) / 8.0;
    float gv = NdotV / (NdotV * (1.0 - k) + k);
    float gl = NdotL / (NdotL * (1.0 - k) + k);
    return gv * gl;
}

float3 FresnelSchlick(float cosTheta, float3 F0) {
    return F0 + (1.0 - F0) * pow(saturate(1.0 - cosTheta), 5.0);
}

float3 ShadeLight(Surface s, float3 L, float3 radiance) {
    float3 H = normalize(s.view + L);
    float NdotL = saturate(dot(s.normal, L));
    float NdotV = saturate(dot(s.normal, s.view)) + 1e-4;
    float NdotH = saturate(dot(s.normal, H));
    float3 F0 = lerp(0.04.xxx, s.albedo, s.metallic);
    float3 F = FresnelSchlick(saturate(dot(H, s.view)), F0);
    float D = DistributionGGX(NdotH, s.roughness);
    float G = GeometrySmith(NdotV, NdotL, s.roughness);
    float3 specular = D * G * F / max(4.0 * NdotV * NdotL, 1e-3);
    float3 kd = (1.0 - F) * (1.0 - s.metallic);
    return (kd * s.albedo / PI + specular) * radiance * NdotL;
}

uint SelectCascade(float viewDepth) {
    uint cascade = 0;
    [unroll]
    for (uint i = 0; i < CASCADES - 1; ++i) {
        if (viewDepth > CascadeSplits[i])
            cascade = i + 1;
    }
    return cascade;
}

float SampleShadow(float3 worldPosition, float viewDepth) {
    const uint cascade = SelectCascade(viewDepth);
    float4 shadowPos = mul(ShadowMatrix[cascade], float4(worldPosition, 1.0));
    shadowPos.xyz /= shadowPos.w;
    float2 uv = shadowPos.xy * float2(0.5, -0.5) + 0.5;
    float sum = 0;
    uint width, height, slices;
    ShadowMap.GetDimensions(width, height, slices);
    const float2 texel = 1.0 / float2(width, height);
    [unroll]
    for (int y = -1; y <= 1; ++y) {
        [unroll]
        for (int x = -1; x <= 1; ++x) {
            sum += ShadowMap.SampleCmpLevelZero(ShadowSampler, float3(uv + float2(x, y) * texel, cascade),
                                                shadowPos.z - ShadowBias);
        }
    }
    return sum / 9.0;
}

float3 PerturbNormal(VSOutput input) {
    float3 N = normalize(input.normal);
    if ((MaterialFlags & FLAG_NORMAL_MAP) == 0)
        return N;
    float3 T = normalize(input.tangent.xyz - N * dot(N, input.tangent.xyz));
    float3 B = cross(N, T) * input.tangent.w;
    float3 sampled = NormalMap.Sample(LinearWrap, input.uv).xyz * 2.0 - 1.0;
    sampled.xy *= NormalScale;
    return normalize(mul(sampled, float3x3(T, B, N)));
}

uint ClusterIndex(float2 pixel, float viewDepth) {
    uint z = uint(max(log2(viewDepth / NearPlane) / log2(FarPlane / NearPlane) * CLUSTER_Z, 0));
    uint2 xy = uint2(pixel / ScreenSize * float2(CLUSTER_X, CLUSTER_Y));
    return xy.x + CLUSTER_X * (xy.y + CLUSTER_Y * min(z, CLUSTER_Z - 1));
}

float3 Ambient(Surface s) {
    float3 R = reflect(-s.view, s.normal);
    float NdotV = saturate(dot(s.normal, s.view));
    float3 F0 = lerp(0.04.xxx, s.albedo, s.metallic);
    float3 irradiance = IrradianceMap.Sample(LinearClamp, s.normal).rgb;
    float3 prefiltered = PrefilteredMap.SampleLevel(LinearClamp, R, s.roughness * 5.0).rgb;
    float2 brdf = BrdfLut.SampleLevel(LinearClamp, float2(NdotV, s.roughness), 0);
    float3 diffuse = irradiance * s.albedo * (1.0 - s.metallic);
    return (diffuse + prefiltered * (F0 * brdf.x + brdf.y)) * s.occlusion;
}

float4 ps_main(VSOutput input, bool isFront : SV_IsFrontFace) : SV_Target0 {
    float4 base = BaseColorMap.Sample(LinearWrap, input.uv) * BaseColorFactor;
    if (MaterialFlags & FLAG_ALPHA_TEST)
        clip(base.a - AlphaCutoff);

    float4 mr = MetalRoughMap.Sample(LinearWrap, input.uv);
    Surface s;
    s.position = input.worldPosition;
    s.normal = PerturbNormal(input) * (isFront ? 1.0 : -1.0);
    s.view = normalize(CameraPosition - input.worldPosition);
    s.albedo = base.rgb;
    s.metallic = mr.b * MetallicFactor;
    s.roughness = clamp(mr.g * RoughnessFactor, 0.045, 1.0);
    s.occlusion = lerp(1.0, OcclusionMap.Sample(LinearWrap, input.uv).r, OcclusionStrength);

    float3 color = ShadeLight(s, -SunDirection, SunColor * SunIntensity) *
                   SampleShadow(input.worldPosition, input.viewDepth);

    Cluster cluster = Clusters[ClusterIndex(input.position.xy, input.viewDepth)];
    [loop]
    for (uint i = 0; i < cluster.count; ++i) {
        PointLight light = Lights[LightIndices[cluster.offset + i]];
        float3 toLight = light.position - s.position;
        float d2 = dot(toLight, toLight);
        if (d2 > light.radius * light.radius)
            continue;
        float falloff = saturate(1.0 - pow(d2 / (light.radius * light.radius), 2));
        color += ShadeLight(s, toLight * rsqrt(d2), light.color * light.intensity * falloff * falloff / (d2 + 1.0));
    }

    color += Ambient(s);
    color += EmissiveMap.Sample(LinearWrap, input.uv).rgb * EmissiveFactor;
    return float4(color, base.a);
}
