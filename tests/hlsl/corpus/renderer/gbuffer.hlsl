// Into a buffer of geometry: normals folded to an octahedron, motion, several targets.
// run: vertex=vs_main fragment=ps_main
// glslang: none, it does not know select
cbuffer Frame : register(b0) {
    matrix ViewProj;
    matrix PrevViewProj;
    float2 Jitter;
    float2 PrevJitter;
};
cbuffer Object : register(b1) {
    matrix World;
    matrix PrevWorld;
    float3x3 NormalMatrix;
    float4 Tint;
};
Texture2D Albedo : register(t0);
Texture2D Normals : register(t1);
Texture2D Surface : register(t2);
SamplerState Aniso : register(s0);

struct VSIn {
    float3 position : POSITION;
    float3 normal : NORMAL;
    float4 tangent : TANGENT;
    float2 uv : TEXCOORD0;
};
struct Interpolants {
    float4 position : SV_Position;
    float3 normal : NORMAL;
    float4 tangent : TANGENT;
    float2 uv : TEXCOORD0;
    float3 now : TEXCOORD1;
    float3 before : TEXCOORD2;
};
struct GBuffer {
    float4 albedo : SV_Target0;
    float2 normal : SV_Target1;
    float4 surface : SV_Target2;
    float2 motion : SV_Target3;
};

float2 Encode(float3 n) {
    n /= abs(n.x) + abs(n.y) + abs(n.z);
    float2 wrapped = (1.0 - abs(n.yx)) * select(n.xy >= 0.0, 1.0, -1.0);
    n.xy = n.z >= 0.0 ? n.xy : wrapped;
    return n.xy * 0.5 + 0.5;
}

Interpolants vs_main(VSIn v) {
    Interpolants o;
    float4 world = mul(World, float4(v.position, 1));
    float4 before = mul(PrevWorld, float4(v.position, 1));
    o.position = mul(ViewProj, world);
    o.now = o.position.xyw;
    o.before = mul(PrevViewProj, before).xyw;
    o.normal = mul(NormalMatrix, v.normal);
    o.tangent = float4(mul((float3x3)World, v.tangent.xyz), v.tangent.w);
    o.uv = v.uv;
    return o;
}
GBuffer ps_main(Interpolants i) {
    GBuffer g;
    float3 n = normalize(i.normal);
    float3 t = normalize(i.tangent.xyz);
    float3 b = cross(n, t) * i.tangent.w;
    float3 m;
    m.xy = Normals.Sample(Aniso, i.uv).xy * 2 - 1;
    m.z = sqrt(saturate(1 - dot(m.xy, m.xy)));
    g.normal = Encode(normalize(t * m.x + b * m.y + n * m.z));
    g.albedo = Albedo.Sample(Aniso, i.uv) * Tint;
    g.surface = float4(Surface.Sample(Aniso, i.uv).rgb, 1);
    float2 now = i.now.xy / i.now.z - Jitter;
    float2 before = i.before.xy / i.before.z - PrevJitter;
    g.motion = (now - before) * float2(0.5, -0.5);
    return g;
}
