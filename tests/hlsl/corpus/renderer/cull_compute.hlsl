// Frustum and occlusion culling of instances, written as arguments of indirect draws.
// run: compute=cs_main
#define GROUP 64

struct Instance {
    float4x4 world;
    float3 center;
    float radius;
    uint mesh;
    uint firstIndex;
    uint indexCount;
    int vertexOffset;
};

struct DrawArgs {
    uint indexCount;
    uint instanceCount;
    uint firstIndex;
    int vertexOffset;
    uint firstInstance;
};

cbuffer CullConstants : register(b0) {
    float4 Planes[6];
    float4x4 ViewProj;
    float2 HzbSize;
    float ZNear;
    uint InstanceCount;
    uint Flags;
};

StructuredBuffer<Instance> Instances : register(t0);
Texture2D<float> Hzb : register(t1);
SamplerState PointClamp : register(s0);
RWStructuredBuffer<DrawArgs> Draws : register(u0);
RWByteAddressBuffer Counters : register(u1);

groupshared uint gs_Visible;
groupshared uint gs_Base;

bool InsideFrustum(float3 c, float r) {
    bool inside = true;
    [unroll] for (int i = 0; i < 6; ++i)
        inside = inside && dot(Planes[i], float4(c, 1)) > -r;
    return inside;
}

bool Occluded(float3 c, float r) {
    float4 clip = mul(ViewProj, float4(c, 1));
    if (clip.w <= r + ZNear)
        return false;
    float2 uv = clip.xy / clip.w * float2(0.5, -0.5) + 0.5;
    float size = r / clip.w * max(HzbSize.x, HzbSize.y);
    float level = ceil(log2(max(size, 1)));
    float depth = Hzb.SampleLevel(PointClamp, uv, level);
    return (clip.z - r) / clip.w > depth;
}

[numthreads(GROUP, 1, 1)]
void cs_main(uint3 dispatch : SV_DispatchThreadID, uint index : SV_GroupIndex) {
    if (index == 0)
        gs_Visible = 0;
    GroupMemoryBarrierWithGroupSync();

    uint id = dispatch.x;
    bool visible = false;
    Instance instance = (Instance)0;
    if (id < InstanceCount) {
        instance = Instances[id];
        visible = InsideFrustum(instance.center, instance.radius);
        if (visible && (Flags & 1) != 0)
            visible = !Occluded(instance.center, instance.radius);
    }

    uint slot = 0;
    if (visible)
        InterlockedAdd(gs_Visible, 1, slot);
    GroupMemoryBarrierWithGroupSync();

    if (index == 0) {
        uint base;
        Counters.InterlockedAdd(0, gs_Visible, base);
        gs_Base = base;
    }
    GroupMemoryBarrierWithGroupSync();

    if (visible) {
        DrawArgs args;
        args.indexCount = instance.indexCount;
        args.instanceCount = 1;
        args.firstIndex = instance.firstIndex;
        args.vertexOffset = instance.vertexOffset;
        args.firstInstance = id;
        Draws[gs_Base + slot] = args;
    }
}
