// Four levels of a texture in one dispatch, for any size, in sRGB if asked.
// run: compute=cs_main
// glslang: none, it does not know select
RWTexture2D<float4> OutMip1 : register(u0);
RWTexture2D<float4> OutMip2 : register(u1);
RWTexture2D<float4> OutMip3 : register(u2);
RWTexture2D<float4> OutMip4 : register(u3);
Texture2D<float4> SrcMip : register(t0);
SamplerState BilinearClamp : register(s0);
cbuffer CB0 : register(b0) {
    uint SrcMipLevel;
    uint NumMipLevels;
    float2 TexelSize;
    bool IsSRGB;
}
groupshared float gs_R[64];
groupshared float gs_G[64];
groupshared float gs_B[64];
groupshared float gs_A[64];

void StoreColor(uint Index, float4 Color) {
    gs_R[Index] = Color.r;
    gs_G[Index] = Color.g;
    gs_B[Index] = Color.b;
    gs_A[Index] = Color.a;
}
float4 LoadColor(uint Index) { return float4(gs_R[Index], gs_G[Index], gs_B[Index], gs_A[Index]); }
float3 ApplySRGBCurve(float3 x) { return select(x < 0.0031308, 12.92 * x, 1.055 * pow(x, 1.0 / 2.4) - 0.055); }
float4 PackColor(float4 Linear) {
    if (IsSRGB)
        return float4(ApplySRGBCurve(Linear.rgb), Linear.a);
    return Linear;
}

[numthreads(8, 8, 1)]
void cs_main(uint GI : SV_GroupIndex, uint3 DTid : SV_DispatchThreadID) {
    float2 UV = TexelSize * (DTid.xy + 0.5);
    float4 Src1 = SrcMip.SampleLevel(BilinearClamp, UV, SrcMipLevel);
    OutMip1[DTid.xy] = PackColor(Src1);
    if (NumMipLevels == 1)
        return;
    StoreColor(GI, Src1);
    GroupMemoryBarrierWithGroupSync();
    if ((GI & 0x9) == 0) {
        float4 Src2 = LoadColor(GI + 0x01);
        float4 Src3 = LoadColor(GI + 0x08);
        float4 Src4 = LoadColor(GI + 0x09);
        Src1 = 0.25 * (Src1 + Src2 + Src3 + Src4);
        OutMip2[DTid.xy / 2] = PackColor(Src1);
        StoreColor(GI, Src1);
    }
    if (NumMipLevels == 2)
        return;
    GroupMemoryBarrierWithGroupSync();
    if ((GI & 0x1B) == 0) {
        Src1 = 0.25 * (Src1 + LoadColor(GI + 0x02) + LoadColor(GI + 0x10) + LoadColor(GI + 0x12));
        OutMip3[DTid.xy / 4] = PackColor(Src1);
        StoreColor(GI, Src1);
    }
    if (NumMipLevels == 3)
        return;
    GroupMemoryBarrierWithGroupSync();
    if (GI == 0) {
        Src1 = 0.25 * (Src1 + LoadColor(0x04) + LoadColor(0x20) + LoadColor(0x24));
        OutMip4[DTid.xy / 8] = PackColor(Src1);
    }
}
