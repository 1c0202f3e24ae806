// Blur along the largest motion of a tile.
// run: compute=cs_tile_max
// run: fragment=ps_blur
#define TILE 20
cbuffer Blur : register(b0) {
    uint2 Size;
    float Shutter;
    int Samples;
};
Texture2D<float2> Velocity : register(t0);
Texture2D<float2> TileMax : register(t1);
Texture2D Color : register(t2);
Texture2D<float> Depth : register(t3);
SamplerState Linear : register(s0);
RWTexture2D<float2> Output : register(u0);
groupshared float2 Row[TILE];
groupshared uint Longest;

[numthreads(TILE, 1, 1)]
void cs_tile_max(uint3 group : SV_GroupID, uint3 thread : SV_GroupThreadID) {
    float2 best = 0;
    for (uint y = 0; y < TILE; ++y) {
        uint2 at = min(group.xy * TILE + uint2(thread.x, y), Size - 1);
        float2 v = Velocity[at];
        best = dot(v, v) > dot(best, best) ? v : best;
    }
    Row[thread.x] = best;
    GroupMemoryBarrierWithGroupSync();
    if (thread.x == 0) {
        for (uint x = 1; x < TILE; ++x)
            best = dot(Row[x], Row[x]) > dot(best, best) ? Row[x] : best;
        Output[group.xy] = best;
    }
}
float Cone(float d, float v) { return saturate(1 - d / max(v, 1e-4)); }
float Cylinder(float d, float v) { return 1 - smoothstep(0.95 * v, 1.05 * v, d); }
float4 ps_blur(float4 position : SV_Position, float2 uv : TEXCOORD0) : SV_Target {
    float2 largest = TileMax.Load(int3(uint2(position.xy) / TILE, 0)) * Shutter;
    float4 center = Color.SampleLevel(Linear, uv, 0);
    if (length(largest * Size) < 0.5)
        return center;
    float2 own = Velocity.SampleLevel(Linear, uv, 0) * Shutter;
    float depth = Depth.SampleLevel(Linear, uv, 0);
    float weight = 1 / max(length(own * Size), 0.5);
    float4 sum = center * weight;
    for (int i = 0; i < Samples; ++i) {
        float t = lerp(-1, 1, (i + 1.0) / (Samples + 1));
        float2 at = uv + largest * t;
        float d = length(largest * t * Size);
        float2 v = Velocity.SampleLevel(Linear, at, 0) * Shutter;
        float z = Depth.SampleLevel(Linear, at, 0);
        float front = saturate(1 - (depth - z) * 100), back = saturate(1 - (z - depth) * 100);
        float a = front * Cone(d, length(v * Size)) + back * Cone(d, length(own * Size)) + Cylinder(d, length(v * Size)) * Cylinder(d, length(own * Size)) * 2;
        weight += a;
        sum += a * Color.SampleLevel(Linear, at, 0);
    }
    return sum / weight;
}
