// A pyramid of the farthest depths.
// run: compute=cs_main
Texture2D<float> Source : register(t0);
SamplerState PointClamp : register(s0);
RWTexture2D<float> Levels[5] : register(u0);
cbuffer Build : register(b0) {
    uint2 SourceSize;
    uint LevelCount;
    uint First;
};
groupshared float Tile[32][32];

float Farthest(float4 d) { return max(max(d.x, d.y), max(d.z, d.w)); }

[numthreads(16, 16, 1)]
void cs_main(uint3 group : SV_GroupID, uint3 thread : SV_GroupThreadID, uint3 id : SV_DispatchThreadID) {
    float2 uv = (id.xy * 2 + 1.0) / SourceSize;
    float depth = Farthest(Source.Gather(PointClamp, uv));
    Levels[0][id.xy] = depth;
    Tile[thread.y][thread.x] = depth;
    GroupMemoryBarrierWithGroupSync();
    uint size = 16;
    [unroll]
    for (uint level = 1; level < 5; ++level) {
        size >>= 1;
        float value = 0;
        bool active_thread = all(thread.xy < size);
        if (active_thread) {
            uint2 at = thread.xy * 2;
            value = Farthest(float4(Tile[at.y][at.x], Tile[at.y][at.x + 1], Tile[at.y + 1][at.x], Tile[at.y + 1][at.x + 1]));
            if (level < LevelCount)
                Levels[level][group.xy * size + thread.xy] = value;
        }
        GroupMemoryBarrierWithGroupSync();
        if (active_thread)
            Tile[thread.y][thread.x] = value;
        GroupMemoryBarrierWithGroupSync();
    }
}
