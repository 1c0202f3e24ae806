// Layers of materials as structs with methods, chosen by switches and options.
// run: fragment=ps_main
// glslang: none, it knows no enumerations
enum BlendMode { kBlendMix, kBlendAdd, kBlendMultiply, kBlendOverlay };
namespace color {
    static const float3 kLuma = float3(0.2126, 0.7152, 0.0722);
    float Luminance(float3 c) { return dot(c, kLuma); }
    float3 Overlay(float3 a, float3 b) { return select(a < 0.5, 2 * a * b, 1 - 2 * (1 - a) * (1 - b)); }
}
struct LayerConstants {
    float4 tint;
    float2 tiling;
    float roughness;
    float metallic;
    uint mode;
    uint map;
    float mask_scale;
    float mask_bias;
};
struct Layers {
    LayerConstants layers[4];
    uint count;
};
ConstantBuffer<Layers> Constants : register(b0);
Texture2D<float4> Maps[8] : register(t0);
Texture2D<float> Masks : register(t8);
SamplerState Aniso : register(s0);

struct SurfaceState {
    float3 albedo;
    float roughness;
    float metallic;
    void Blend(LayerConstants layer, float4 sampled, float mask) {
        float3 c = sampled.rgb * layer.tint.rgb;
        switch ((BlendMode)layer.mode) {
            case kBlendMix: albedo = lerp(albedo, c, mask); break;
            case kBlendAdd: albedo += c * mask; break;
            case kBlendMultiply: albedo *= lerp(1, c, mask); break;
            case kBlendOverlay: albedo = lerp(albedo, color::Overlay(albedo, c), mask); break;
        }
        roughness = lerp(roughness, layer.roughness * sampled.a, mask);
        metallic = max(metallic, layer.metallic * mask);
    }
};
float4 ps_main(float4 position : SV_Position, float2 uv : TEXCOORD0) : SV_Target {
    SurfaceState state = { float3(0.5, 0.5, 0.5), 1, 0 };
    const float mask = Masks.Sample(Aniso, uv);
    for (uint i = 0; i < Constants.count; ++i) {
        const LayerConstants layer = Constants.layers[i];
        float4 sampled = Maps[layer.map].SampleLevel(Aniso, uv * layer.tiling, 0);
        state.Blend(layer, sampled, saturate(mask * layer.mask_scale + layer.mask_bias));
    }
    return float4(state.albedo * color::Luminance(1.0.xxx), state.roughness + state.metallic);
}
