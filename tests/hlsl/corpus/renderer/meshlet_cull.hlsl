// Small parts of meshes culled by cones and spheres, their indices written for a draw.
// run: compute=cs_main
// glslang: none, it calls no method of what a constant buffer holds
struct Meshlet {
    float4 sphere;
    uint cone;
    uint vertex_offset;
    uint triangle_offset;
    uint counts;
    int vertex_count() { return counts & 0xff; }
    int triangle_count() { return counts >> 8 & 0xff; }
    float4 cone_axis_cutoff() { return float4((int3(cone << 24, cone << 16, cone << 8) >> 24) / 127.0, (int(cone) >> 24) / 127.0); }
};
struct CullView {
    float4x4 world;
    float4 planes[6];
    float3 eye;
    uint meshlet_count;
    bool cones;
    bool SphereVisible(float4 sphere) {
        for (int i = 0; i < 6; ++i)
            if (dot(planes[i], float4(sphere.xyz, 1)) < -sphere.w)
                return false;
        return true;
    }
};
ConstantBuffer<CullView> CullConstants : register(b0);
StructuredBuffer<Meshlet> Meshlets : register(t0);
StructuredBuffer<uint> MeshletIndices : register(t1);
RWStructuredBuffer<uint> OutIndices : register(u0);
RWByteAddressBuffer Args : register(u1);
groupshared uint Base;
[numthreads(64, 1, 1)]
void cs_main(uint3 group : SV_GroupID, uint thread : SV_GroupIndex) {
    Meshlet m = Meshlets[group.x];
    float3 center = mul(CullConstants.world, float4(m.sphere.xyz, 1)).xyz;
    bool visible = group.x < CullConstants.meshlet_count && CullConstants.SphereVisible(float4(center, m.sphere.w));
    if (visible && CullConstants.cones) {
        float4 cone = m.cone_axis_cutoff();
        float3 axis = mul((float3x3)CullConstants.world, cone.xyz);
        visible = dot(normalize(center - CullConstants.eye), normalize(axis)) < cone.w;
    }
    if (!visible)
        return;
    if (thread == 0) {
        uint base;
        Args.InterlockedAdd(0, m.triangle_count() * 3, base);
        Base = base;
    }
    GroupMemoryBarrierWithGroupSync();
    for (uint i = thread; i < (uint)m.triangle_count(); i += 64) {
        uint packed = MeshletIndices[m.triangle_offset + i];
        OutIndices[Base + i * 3] = m.vertex_offset + (packed & 0xff);
        OutIndices[Base + i * 3 + 1] = m.vertex_offset + (packed >> 8 & 0xff);
        OutIndices[Base + i * 3 + 2] = m.vertex_offset + (packed >> 16 & 0xff);
    }
}
