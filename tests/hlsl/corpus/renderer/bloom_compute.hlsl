// Bloom: down with a wide filter, up with a tent, in shared memory.
// run: compute=cs_down
// run: compute=cs_up
cbuffer Bloom : register(b0) {
    float2 InverseInput;
    float2 InverseOutput;
    float4 Threshold;
    float Scatter;
    uint FirstMip;
};
Texture2D<float4> Input : register(t0);
Texture2D<float4> Base : register(t1);
SamplerState LinearClamp : register(s0);
RWTexture2D<float4> Output : register(u0);

groupshared uint TileRG[100];
groupshared uint TileB[100];

uint PackHalf(float2 v) { return f32tof16(v.x) | (f32tof16(v.y) << 16); }
float2 UnpackHalf(uint v) { return float2(f16tof32(v), f16tof32(v >> 16)); }

void StoreTile(uint index, float3 color) {
    TileRG[index] = PackHalf(color.rg);
    TileB[index] = f32tof16(color.b);
}
float3 LoadTile(uint index) { return float3(UnpackHalf(TileRG[index]), f16tof32(TileB[index])); }

float3 Prefilter(float3 color) {
    float brightness = max(color.r, max(color.g, color.b));
    float soft = clamp(brightness - Threshold.y, 0, Threshold.z);
    soft = soft * soft * Threshold.w;
    return color * max(soft, brightness - Threshold.x) / max(brightness, 1e-5);
}

[numthreads(8, 8, 1)]
void cs_down(uint3 group : SV_GroupID, uint3 thread : SV_GroupThreadID, uint index : SV_GroupIndex,
             uint3 dispatch : SV_DispatchThreadID) {
    int2 origin = int2(group.xy) * 8 - 1;
    for (uint i = index; i < 100; i += 64) {
        int2 at = origin + int2(i % 10, i / 10);
        float3 color = Input.SampleLevel(LinearClamp, (at + 0.5) * InverseOutput, 0).rgb;
        StoreTile(i, FirstMip ? Prefilter(color) : color);
    }
    GroupMemoryBarrierWithGroupSync();
    float3 sum = 0;
    const float weights[3] = { 0.25, 0.5, 0.25 };
    [unroll]
    for (uint y = 0; y < 3; ++y)
        [unroll]
        for (uint x = 0; x < 3; ++x)
            sum += LoadTile((thread.y + y) * 10 + thread.x + x) * weights[x] * weights[y];
    Output[dispatch.xy] = float4(sum, 1);
}

[numthreads(8, 8, 1)]
void cs_up(uint3 id : SV_DispatchThreadID) {
    float2 uv = (id.xy + 0.5) * InverseOutput;
    float4 sum = 4 * Input.SampleLevel(LinearClamp, uv, 0);
    sum += 2 * Input.SampleLevel(LinearClamp, uv, 0, int2(1, 0));
    sum += 2 * Input.SampleLevel(LinearClamp, uv, 0, int2(-1, 0));
    sum += 2 * Input.SampleLevel(LinearClamp, uv, 0, int2(0, 1));
    sum += 2 * Input.SampleLevel(LinearClamp, uv, 0, int2(0, -1));
    sum += Input.SampleLevel(LinearClamp, uv, 0, int2(1, 1)) + Input.SampleLevel(LinearClamp, uv, 0, int2(-1, 1));
    sum += Input.SampleLevel(LinearClamp, uv, 0, int2(1, -1)) + Input.SampleLevel(LinearClamp, uv, 0, int2(-1, -1));
    float4 base = Base[id.xy];
    Output[id.xy] = lerp(base, sum / 16.0, Scatter);
}
