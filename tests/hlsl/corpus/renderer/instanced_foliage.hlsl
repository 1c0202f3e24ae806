// Grass: instances packed in words of bytes, wind, fade by dither.
// run: vertex=vs_main fragment=ps_main
ByteAddressBuffer Instances : register(t0);
Texture2D<float2> WindMap : register(t1);
Texture2D Blade : register(t2);
SamplerState Wrap : register(s0);
cbuffer Foliage : register(b0) {
    float4x4 ViewProj;
    float4 WindParams;
    float3 Eye;
    float Time;
    float2 FadeRange;
};
struct Blades { float4 position : SV_Position; float2 uv : TEXCOORD0; float3 normal : NORMAL; float fade : FADE; float4 tint : COLOR; };
struct Instance {
    float3 position;
    float scale;
    float angle;
    float4 tint;
};
Instance LoadInstance(uint i) {
    uint4 raw = Instances.Load4(i * 20);
    uint tint = Instances.Load(i * 20 + 16);
    Instance o;
    o.position = asfloat(raw.xyz);
    o.scale = f16tof32(raw.w);
    o.angle = f16tof32(raw.w >> 16);
    o.tint = float4(tint & 0xff, (tint >> 8) & 0xff, (tint >> 16) & 0xff, tint >> 24) / 255;
    return o;
}
Blades vs_main(float3 position : POSITION, float3 normal : NORMAL, float2 uv : TEXCOORD0, uint id : SV_InstanceID) {
    Instance instance = LoadInstance(id);
    float s, c;
    sincos(instance.angle, s, c);
    float3x3 turn = float3x3(c, 0, s, 0, 1, 0, -s, 0, c);
    float3 world = mul(turn, position * instance.scale) + instance.position;
    float2 wind = WindMap.SampleLevel(Wrap, world.xz * WindParams.x + Time * WindParams.yz, 0) * 2 - 1;
    world.xz += wind * (uv.y * uv.y) * WindParams.w;
    Blades o;
    o.position = mul(ViewProj, float4(world, 1));
    o.uv = uv;
    o.normal = mul(turn, normal);
    o.fade = saturate((FadeRange.y - distance(world, Eye)) / (FadeRange.y - FadeRange.x));
    o.tint = instance.tint;
    return o;
}
static const float4x4 Bayer = { 0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5 };
float4 ps_main(Blades i, bool front : SV_IsFrontFace) : SV_Target0 {
    uint2 p = uint2(i.position.xy) & 3;
    clip(i.fade - (Bayer[p.y][p.x] + 0.5) / 16);
    float4 c = Blade.Sample(Wrap, i.uv) * i.tint;
    clip(c.a - 0.4);
    float3 n = front ? i.normal : -i.normal;
    return float4(c.rgb * (0.6 + 0.4 * n.y), 1);
}
