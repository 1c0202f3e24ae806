// Billboards from a buffer of particles, soft where they meet the scene.
// run: vertex=vs_main fragment=ps_main
struct Particle {
    float3 position;
    float age;
    float3 velocity;
    float lifetime;
    float4 color;
    float size;
    float rotation;
    uint flags;
    uint seed;
};
StructuredBuffer<Particle> Particles : register(t0);
StructuredBuffer<uint> AliveList : register(t1);
Texture2D Sprite : register(t2);
Texture2D<float> SceneDepth : register(t3);
SamplerState Linear : register(s0);
cbuffer Camera : register(b0) {
    float4x4 View;
    float4x4 Projection;
    float2 DepthParams;
    float SoftDistance;
};
struct Out {
    float4 position : SV_Position;
    linear float2 uv : TEXCOORD0;
    float4 color : COLOR;
    noperspective float depth : DEPTH;
};

Out vs_main(uint vertex : SV_VertexID, uint instance : SV_InstanceID) {
    static const float2 corners[6] = { float2(-1, -1), float2(1, -1), float2(-1, 1), float2(-1, 1), float2(1, -1), float2(1, 1) };
    Particle p = Particles[AliveList[instance]];
    float s, c;
    sincos(p.rotation, s, c);
    float2 corner = mul(corners[vertex], float2x2(c, s, -s, c)) * p.size;
    float4 view = mul(View, float4(p.position, 1));
    view.xy += corner;
    Out o;
    o.position = mul(Projection, view);
    o.uv = corners[vertex] * float2(0.5, -0.5) + 0.5;
    o.color = p.color;
    o.depth = view.z;
    return o;
}

float4 ps_main(Out input) : SV_Target {
    float4 color = Sprite.Sample(Linear, input.uv) * input.color;
    float scene = DepthParams.y / (SceneDepth[uint2(input.position.xy)] - DepthParams.x);
    color.a *= saturate((scene - input.depth) / SoftDistance);
    clip(color.a - 1.0 / 255.0);
    color.rgb *= color.a;
    return color;
}
