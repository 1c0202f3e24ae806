// Shadows of a point light in a cube, with a kernel of directions.
// run: vertex=vs_depth fragment=ps_depth
// run: fragment=ps_main
cbuffer PointShadow : register(b0) {
    float4x4 FaceViewProj;
    float4x4 World;
    float3 LightPosition;
    float Range;
    float Softness;
    float Bias;
};
TextureCube<float> Cube : register(t0);
TextureCubeArray<float> Cubes : register(t1);
SamplerComparisonState Compare : register(s0);
struct D { float4 position : SV_Position; float3 world : WORLD; };
D vs_depth(float3 position : POSITION) {
    D o;
    o.world = mul(World, float4(position, 1)).xyz;
    o.position = mul(FaceViewProj, float4(o.world, 1));
    return o;
}
float ps_depth(D i) : SV_Depth { return saturate(length(i.world - LightPosition) / Range); }
static const float3 kDirections[8] = { float3(1, 1, 1), float3(1, -1, 1), float3(-1, -1, 1), float3(-1, 1, 1),
                                       float3(1, 1, -1), float3(1, -1, -1), float3(-1, -1, -1), float3(-1, 1, -1) };
float4 ps_main(float4 position : SV_Position, float3 world : WORLD, nointerpolation uint light : LIGHT) : SV_Target {
    float3 d = world - LightPosition;
    float depth = length(d) / Range - Bias;
    float lit = 0;
    for (uint i = 0; i < 8; ++i)
        lit += Cube.SampleCmpLevelZero(Compare, d + kDirections[i] * Softness, depth);
    lit = lit / 8 * Cubes.SampleCmpLevelZero(Compare, float4(d, light), depth);
    return float4(lit.xxx, 1);
}
