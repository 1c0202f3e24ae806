// The end of a frame: exposure, bloom, grading by a table, a curve, dither.
// run: fragment=ps_main
cbuffer ToneMapping : register(b0) {
    float Exposure;
    float BloomIntensity;
    float LutSize;
    float Vignette;
    float2 Resolution;
    float Time;
    int Operator;
    float3 WhiteBalance;
    float Saturation;
};
Texture2D<float4> Hdr : register(t0);
Texture2D<float4> Bloom : register(t1);
Texture3D<float4> Lut : register(t2);
Texture2D<float> AverageLuminance : register(t3);
SamplerState LinearSampler : register(s0);

static const float3x3 ACESInput = {
    0.59719, 0.35458, 0.04823,
    0.07600, 0.90834, 0.01566,
    0.02840, 0.13383, 0.83777
};
static const float3x3 ACESOutput = {
    1.60475, -0.53108, -0.07367,
    -0.10208, 1.10813, -0.00605,
    -0.00327, -0.07276, 1.07602
};

float3 RRTAndODTFit(float3 v) {
    float3 a = v * (v + 0.0245786f) - 0.000090537f;
    float3 b = v * (0.983729f * v + 0.4329510f) + 0.238081f;
    return a / b;
}
float3 ACES(float3 color) { return saturate(mul(ACESOutput, RRTAndODTFit(mul(ACESInput, color)))); }
float3 Reinhard(float3 color) { return color / (1 + color); }
float3 Uncharted2(float3 x) {
    const float A = 0.15, B = 0.50, C = 0.10, D = 0.20, E = 0.02, F = 0.30;
    return ((x * (A * x + C * B) + D * E) / (x * (A * x + B) + D * F)) - E / F;
}
float3 LinearToSRGB(float3 c) {
    float3 low = c * 12.92;
    float3 high = 1.055 * pow(c, 1.0 / 2.4) - 0.055;
    return float3(c.r < 0.0031308 ? low.r : high.r, c.g < 0.0031308 ? low.g : high.g, c.b < 0.0031308 ? low.b : high.b);
}
float InterleavedNoise(float2 p) { return frac(52.9829189 * frac(dot(p, float2(0.06711056, 0.00583715)))); }

float4 ps_main(float4 position : SV_Position, float2 uv : TEXCOORD) : SV_Target {
    float3 color = Hdr.SampleLevel(LinearSampler, uv, 0).rgb;
    color += Bloom.SampleLevel(LinearSampler, uv, 0).rgb * BloomIntensity;
    float key = 1.03 - 2.0 / (2.0 + log10(AverageLuminance.Load(int3(0, 0, 0)) + 1));
    color *= Exposure * key * WhiteBalance;
    float luma = dot(color, float3(0.2126, 0.7152, 0.0722));
    color = lerp(luma.xxx, color, Saturation);
    switch (Operator) {
        case 0:
            color = ACES(color);
            break;
        case 1:
            color = Reinhard(color);
            break;
        case 2:
        case 3:
            color = Uncharted2(color * 2) / Uncharted2(11.2.xxx);
            break;
        default:
            color = saturate(color);
            break;
    }
    color = LinearToSRGB(color);
    color = Lut.SampleLevel(LinearSampler, color * ((LutSize - 1) / LutSize) + 0.5 / LutSize, 0).rgb;
    float2 d = uv - 0.5;
    color *= 1 - dot(d, d) * Vignette;
    color += (InterleavedNoise(position.xy + Time) - 0.5) / 255.0;
    return float4(color, 1);
}
