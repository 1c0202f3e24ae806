// A picture's values spread evenly: counts, sums, and a table applied to each pixel.
// run: compute=cs_count
// run: compute=cs_sum
// run: compute=cs_apply
Buffer<float4> Palette : register(t0);
Texture2D<float> Input : register(t1);
RWBuffer<uint> Counts : register(u0);
RWTexture2D<float> Output : register(u1);
cbuffer Picture : register(b0) { uint2 Size; };
groupshared uint Local[64];
[numthreads(8, 8, 1)]
void cs_count(uint3 id : SV_DispatchThreadID, uint i : SV_GroupIndex) {
    Local[i] = 0;
    GroupMemoryBarrierWithGroupSync();
    if (all(id.xy < Size)) {
        uint bin = (uint)min(Input[id.xy] * 64, 63);
        InterlockedAdd(Local[bin], 1u);
    }
    GroupMemoryBarrierWithGroupSync();
    uint before;
    InterlockedAdd(Counts[i], Local[i], before);
}
[numthreads(1, 1, 1)]
void cs_sum() {
    uint sum = 0;
    [allow_uav_condition] [loop]
    for (uint i = 0; i < 64; ++i) {
        sum += Counts[i];
        Counts[i] = sum;
    }
}
[numthreads(8, 8, 1)]
void cs_apply(uint3 id : SV_DispatchThreadID) {
    if (any(id.xy >= Size))
        return;
    uint bin = (uint)min(Input[id.xy] * 64, 63);
    uint entries;
    Palette.GetDimensions(entries);
    Output[id.xy] = Counts[bin] / (float)(Size.x * Size.y) * dot(Palette[bin % max(entries, 1u)].rgb, float3(0.3, 0.6, 0.1));
}
