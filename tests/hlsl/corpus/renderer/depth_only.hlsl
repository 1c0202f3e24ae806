// Depth alone: a vertex stage with instances from a buffer, and a pixel stage for what is cut out.
// run: vertex=vs_main fragment=ps_main
// glslang: differs, it lets the uint3 of a storage buffer stand right behind a number
cbuffer Pass : register(b0) {
    float4x4 ViewProjection;
    float DepthBias;
};
struct InstanceData {
    float4 rows[3];
    uint material;
    uint3 pad;
};
StructuredBuffer<InstanceData> Instances : register(t0);
Texture2D AlphaMap : register(t1);
SamplerState Aniso : register(s0);

struct V2P {
    float4 position : SV_Position;
    float2 uv : TEXCOORD0;
    nointerpolation uint material : MATERIAL;
};

V2P vs_main(float3 position : POSITION, float2 uv : TEXCOORD0, uint instance : SV_InstanceID) {
    InstanceData data = Instances[instance];
    float4 p = float4(position, 1.0f);
    float3 world = float3(dot(p, data.rows[0]), dot(p, data.rows[1]), dot(p, data.rows[2]));
    V2P result;
    result.position = mul(ViewProjection, float4(world, 1.0f));
    result.position.z += DepthBias * result.position.w;
    result.uv = uv;
    result.material = data.material;
    return result;
}

void ps_main(V2P input) {
    float alpha = AlphaMap.Sample(Aniso, input.uv).a;
    if (alpha < 0.5f)
        discard;
}
