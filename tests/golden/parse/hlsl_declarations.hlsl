// run: stage=parse
enum class Tone : uint { warm, cold = 2 };
namespace fog {
    typedef float3 Colour;
    struct State { Colour colour : COLOR; float amount() { return colour.x; } };
}
cbuffer View : register(b0, space1) { row_major float4x4 to_clip : packoffset(c2); };
[[vk::binding(3, 1)]] Texture2D<float4> albedo, normal[2];
ConstantBuffer<vector<float, 4>> lights;
[[using Vulkan: set(1), binding(2)]] SamplerState albedo_sampler;
static const float kTable[2][2] = { { 1, 2 }, { 3, 4 } };
struct { float a; } pair;
float4 main(in fog::State s, linear float2 uv : TEXCOORD0, out float depth : SV_Depth) : SV_Target;
