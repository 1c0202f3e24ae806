// A blur of one direction with weights from constants, 2018's dialect.
// run: fragment=ps_main
// hlsl: version=2018
// glslang: none, a variable of a for head lives on in 2018
#define RADIUS 7
cbuffer Blur : register(b0) {
    float2 g_Direction;
    float g_Weights[RADIUS + 1];
};
Texture2D g_Texture : register(t0);
SamplerState g_Sampler : register(s0);

float4 ps_main(float4 pos : SV_POSITION, float2 tex : TEXCOORD0) : SV_TARGET {
    float4 sum = g_Texture.Sample(g_Sampler, tex) * g_Weights[0];
    for (int i = 1; i <= RADIUS; i++) {
        sum += g_Texture.Sample(g_Sampler, tex + g_Direction * i) * g_Weights[i];
        sum += g_Texture.Sample(g_Sampler, tex - g_Direction * i) * g_Weights[i];
    }
    for (i = 0; i < 2; i++)
        sum.rgb = sum.rgb > 1 ? sum.rgb * 0.99 : sum.rgb;
    return sum;
}
