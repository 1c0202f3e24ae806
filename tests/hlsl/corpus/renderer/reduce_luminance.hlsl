// A histogram of luminance and the exposure that follows from it.
// run: compute=cs_histogram
// run: compute=cs_average
#define BINS 256
cbuffer Exposure : register(b0) {
    float MinLogLuminance;
    float InverseLogRange;
    float LogRange;
    float TimeDelta;
    float Speed;
    uint PixelCount;
    uint2 InputSize;
};
Texture2D<float4> Input : register(t0);
RWByteAddressBuffer Histogram : register(u0);
RWTexture2D<float> Average : register(u1);

groupshared uint Bins[BINS];

uint BinOf(float3 color) {
    float luminance = dot(color, float3(0.2125, 0.7154, 0.0721));
    if (luminance < 0.0001)
        return 0;
    return (uint)(saturate((log2(luminance) - MinLogLuminance) * InverseLogRange) * 254.0 + 1.0);
}

[numthreads(16, 8, 1)]
void cs_histogram(uint3 id : SV_DispatchThreadID, uint index : SV_GroupIndex) {
    Bins[index] = 0;
    Bins[index + 128] = 0;
    GroupMemoryBarrierWithGroupSync();
    if (all(id.xy < InputSize)) {
        uint ignored;
        InterlockedAdd(Bins[BinOf(Input.Load(int3(id.xy, 0)).rgb)], 1, ignored);
    }
    GroupMemoryBarrierWithGroupSync();
    Histogram.InterlockedAdd(index * 4, Bins[index]);
    Histogram.InterlockedAdd((index + 128) * 4, Bins[index + 128]);
}

groupshared float Weighted[128];

[numthreads(128, 1, 1)]
void cs_average(uint index : SV_GroupIndex) {
    const uint first = Histogram.Load(index * 8);
    const uint second = Histogram.Load(index * 8 + 4);
    Weighted[index] = first * (index * 2.0) + second * (index * 2.0 + 1.0);
    GroupMemoryBarrierWithGroupSync();
    for (uint offset = 64; offset > 0; offset >>= 1) {
        if (index < offset)
            Weighted[index] += Weighted[index + offset];
        GroupMemoryBarrierWithGroupSync();
    }
    Histogram.Store2(index * 8, uint2(0, 0));
    if (index == 0) {
        float count = max(PixelCount - (float)first, 1.0);
        float log_average = Weighted[0] / count - 1.0;
        float luminance = exp2(log_average / 254.0 * LogRange + MinLogLuminance);
        float last = Average[uint2(0, 0)];
        Average[uint2(0, 0)] = last + (luminance - last) * (1 - exp(-TimeDelta * Speed));
    }
}
