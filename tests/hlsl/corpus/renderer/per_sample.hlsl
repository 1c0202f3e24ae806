// Shading for each sample, with masks in and out.
// run: fragment=ps_main
Texture2D Pattern : register(t0);
SamplerState Linear : register(s0);
cbuffer Coverage : register(b0) { float Threshold; uint Pattern4x4; };
struct Out {
    float4 color : SV_Target0;
    float depth : SV_Depth;
    uint coverage : SV_Coverage;
};
Out ps_main(float4 position : SV_Position, sample float2 uv : TEXCOORD0, centroid float3 tint : COLOR0, uint index : SV_SampleIndex,
            uint mask : SV_Coverage, uint primitive : SV_PrimitiveID) {
    Out o;
    float4 c = Pattern.Sample(Linear, uv);
    o.color = float4(c.rgb * tint, 1);
    o.color.a = countbits(mask) / 8.0;
    o.depth = position.z + (primitive & 1) * 1e-5;
    o.coverage = c.a > Threshold ? mask & (1u << index) : mask & Pattern4x4;
    return o;
}
