// Lights of a tile, gathered in shared memory, applied to a buffer of geometry.
// run: compute=cs_main
// glslang: none, it has no enumerations
#define TILE 16
#define MAX_LIGHTS 64
struct Light {
    float3 position;
    float range;
    float3 color;
    uint type;
    float3 direction;
    float cosine;
};
cbuffer Frame : register(b0) {
    float4x4 InverseProjection;
    float4x4 InverseView;
    float4x4 Projection;
    uint2 Size;
    uint LightCount;
    float Unused;
};
Texture2D<float4> AlbedoBuffer : register(t0);
Texture2D<float2> NormalBuffer : register(t1);
Texture2D<float4> SurfaceBuffer : register(t2);
Texture2D<float> DepthBuffer : register(t3);
StructuredBuffer<Light> Lights : register(t4);
RWTexture2D<float4> Output : register(u0);

groupshared uint MinDepth;
groupshared uint MaxDepth;
groupshared uint TileCount;
groupshared uint TileLights[MAX_LIGHTS];

enum LightType { LightPoint = 0, LightSpot = 1, LightDirectional = 2 };

float3 DecodeNormal(float2 f) {
    f = f * 2.0 - 1.0;
    float3 n = float3(f, 1.0 - abs(f.x) - abs(f.y));
    float t = saturate(-n.z);
    n.x += n.x >= 0.0 ? -t : t;
    n.y += n.y >= 0.0 ? -t : t;
    return normalize(n);
}
float3 ViewPosition(float2 uv, float depth) {
    float4 p = mul(InverseProjection, float4(uv.x * 2 - 1, 1 - uv.y * 2, depth, 1));
    return p.xyz / p.w;
}
bool Intersects(Light light, float near_z, float far_z) {
    if (light.type == LightDirectional)
        return true;
    return light.position.z + light.range >= near_z && light.position.z - light.range <= far_z;
}
float Attenuation(Light light, float3 to_light, out float3 L) {
    if (light.type == LightDirectional) {
        L = -light.direction;
        return 1;
    }
    float d = length(to_light);
    L = to_light / max(d, 1e-4);
    float a = saturate(1 - d / light.range);
    if (light.type == LightSpot)
        a *= smoothstep(light.cosine, lerp(light.cosine, 1, 0.2), dot(-L, light.direction));
    return a * a;
}

[numthreads(TILE, TILE, 1)]
void cs_main(uint3 id : SV_DispatchThreadID, uint index : SV_GroupIndex) {
    float depth = DepthBuffer[min(id.xy, Size - 1)];
    if (index == 0) {
        MinDepth = 0xffffffff;
        MaxDepth = 0;
        TileCount = 0;
    }
    GroupMemoryBarrierWithGroupSync();
    float2 uv = (id.xy + 0.5) / Size;
    float3 position = ViewPosition(uv, depth);
    InterlockedMin(MinDepth, asuint(position.z));
    InterlockedMax(MaxDepth, asuint(position.z));
    GroupMemoryBarrierWithGroupSync();
    float near_z = asfloat(MinDepth), far_z = asfloat(MaxDepth);
    for (uint i = index; i < LightCount; i += TILE * TILE) {
        if (Intersects(Lights[i], near_z, far_z)) {
            uint slot;
            InterlockedAdd(TileCount, 1, slot);
            if (slot < MAX_LIGHTS)
                TileLights[slot] = i;
        }
    }
    GroupMemoryBarrierWithGroupSync();
    if (any(id.xy >= Size))
        return;
    float3 albedo = AlbedoBuffer[id.xy].rgb;
    float3 n = DecodeNormal(NormalBuffer[id.xy]);
    float4 surface = SurfaceBuffer[id.xy];
    float3 color = albedo * 0.02;
    uint count = min(TileCount, (uint)MAX_LIGHTS);
    for (uint k = 0; k < count; ++k) {
        Light light = Lights[TileLights[k]];
        float3 L;
        float a = Attenuation(light, light.position - position, L);
        float3 h = normalize(L - normalize(position));
        float power = exp2(10 * (1 - surface.g) + 1);
        color += light.color * a * saturate(dot(n, L)) * (albedo + pow(saturate(dot(n, h)), power) * surface.b);
    }
    Output[id.xy] = float4(color, 1);
}
