// Decals in boxes, projected on what lies there, blended into several targets.
// run: vertex=vs_main fragment=ps_main
cbuffer View : register(b0) {
    float4x4 ViewProj;
    float4x4 InvViewProj;
    float2 InvScreen;
};
cbuffer Decal : register(b1) {
    float4x4 DecalToWorld;
    float4x4 WorldToDecal;
    float4 Color;
    float3 Direction;
    float AngleFade;
};
Texture2D<float> Depth : register(t0);
Texture2D<float4> Normals : register(t1);
Texture2D Albedo : register(t2);
Texture2D Normal : register(t3);
SamplerState Aniso : register(s0);
struct Targets {
    float4 albedo : SV_Target0;
    float4 normal : SV_Target1;
};
float4 vs_main(float3 position : POSITION) : SV_Position { return mul(ViewProj, mul(DecalToWorld, float4(position, 1))); }
Targets ps_main(float4 position : SV_Position) {
    float depth = Depth.Load(int3(position.xy, 0));
    float2 uv = position.xy * InvScreen;
    float4 world = mul(InvViewProj, float4(uv * float2(2, -2) + float2(-1, 1), depth, 1));
    world /= world.w;
    float3 local = mul(WorldToDecal, world).xyz;
    clip(0.5 - abs(local));
    float3 surface = normalize(Normals.Load(int3(position.xy, 0)).xyz * 2 - 1);
    float fade = saturate((dot(surface, -Direction) - AngleFade) / (1 - AngleFade));
    float2 at = local.xy + 0.5;
    float2 dx = ddx_coarse(at), dy = ddy_coarse(at);
    float4 albedo = Albedo.SampleGrad(Aniso, at, dx, dy) * Color;
    float3 n = Normal.SampleGrad(Aniso, at, dx, dy).xyz * 2 - 1;
    float3 t = normalize(DecalToWorld._m00_m10_m20), b = normalize(DecalToWorld._m01_m11_m21);
    Targets o;
    o.albedo = float4(albedo.rgb, albedo.a * fade);
    o.normal = float4((t * n.x + b * n.y + surface * n.z) * 0.5 + 0.5, albedo.a * fade);
    return o;
}
