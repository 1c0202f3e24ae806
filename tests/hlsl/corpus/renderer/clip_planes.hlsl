// Mirrors: a plane that clips, and a layer chosen by the vertex stage.
// run: vertex=vs_main fragment=ps_main
cbuffer Mirror : register(b0) {
    float4x4 ViewProj;
    float4x4 World;
    float4 Planes[2];
    float4 Color;
};
struct Out {
    float4 position : SV_Position;
    float2 clip : SV_ClipDistance0;
    float cull : SV_CullDistance0;
    float3 normal : NORMAL;
};
struct In {
    float4 position : SV_Position;
    float2 clip : SV_ClipDistance0;
    float cull : SV_CullDistance0;
    float3 normal : NORMAL;
};
Out vs_main(float3 position : POSITION, float3 normal : NORMAL) {
    Out o;
    float4 world = mul(World, float4(position, 1));
    o.position = mul(ViewProj, world);
    o.clip = float2(dot(world, Planes[0]), dot(world, Planes[1]));
    o.cull = 1;
    o.normal = mul((float3x3)World, normal);
    return o;
}
float4 ps_main(In i) : SV_Target { return Color * saturate(i.normal.y) * saturate(i.clip.x + 1); }
