// Materials and textures by index: one array of textures, a table of materials, non-uniform indices.
// run: fragment=ps_main
// glslang: none, it does not know NonUniformResourceIndex
#define MAX_TEXTURES 1024
struct Material {
    uint albedo;
    uint normal;
    uint surface;
    uint flags;
    float4 tint;
};
struct Instance {
    uint material;
    uint layer;
};
Texture2D Textures[MAX_TEXTURES] : register(t0, space1);
SamplerState Samplers[4] : register(s0, space1);
StructuredBuffer<Material> Materials : register(t0);
StructuredBuffer<Instance> Instances : register(t1);
[[vk::push_constant]] struct { uint first; float alpha; } Draw;

float4 Fetch(uint texture_index, uint sampler_index, float2 uv) {
    return Textures[NonUniformResourceIndex(texture_index)].Sample(Samplers[NonUniformResourceIndex(sampler_index)], uv);
}
float4 ps_main(float4 position : SV_Position, float2 uv : TEXCOORD0, nointerpolation uint instance : INSTANCE) : SV_Target0 {
    const Instance drawn = Instances[Draw.first + instance];
    const Material material = Materials[drawn.material];
    float4 color = Fetch(material.albedo, material.flags & 3, uv) * material.tint;
    if (material.flags & 4) {
        Texture2D detail = Textures[NonUniformResourceIndex(material.surface)];
        color.rgb *= detail.SampleBias(Samplers[0], uv * 8, -0.5).rgb * 2;
    }
    return float4(color.rgb, color.a * Draw.alpha);
}
