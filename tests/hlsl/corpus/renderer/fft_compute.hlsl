// A Fourier transform of a row of an ocean's spectrum, in shared memory.
// run: compute=cs_rows
#define N 256
#define LOG_N 8
static const float TWO_PI = 6.28318530718;

cbuffer Constants : register(b0) {
    uint Columns;
    float Direction;
    uint2 Padding;
};
RWTexture2D<float2> Field : register(u0);
groupshared float2 Line[2][N];

float2 ComplexMul(float2 a, float2 b) { return float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

uint ReverseIndex(uint i) { return reversebits(i) >> (32 - LOG_N); }

[numthreads(N, 1, 1)]
void cs_rows(uint3 group : SV_GroupID, uint3 thread : SV_GroupThreadID) {
    const uint x = thread.x;
    const bool columns = Columns != 0;
    const uint2 at = columns ? uint2(group.x, x) : uint2(x, group.x);
    Line[0][ReverseIndex(x)] = Field[at];
    GroupMemoryBarrierWithGroupSync();

    uint from = 0;
    [unroll]
    for (uint stage = 1; stage <= LOG_N; ++stage) {
        const uint size = 1u << stage;
        const uint half_size = size >> 1;
        const uint k = x & (half_size - 1);
        const uint first = (x & ~(size - 1)) + k;
        float s, c;
        sincos(Direction * TWO_PI * k / size, s, c);
        const float2 even = Line[from][first];
        const float2 odd = ComplexMul(Line[from][first + half_size], float2(c, s));
        Line[1 - from][x] = (x & half_size) == 0 ? even + odd : even - odd;
        from = 1 - from;
        GroupMemoryBarrierWithGroupSync();
    }
    Field[at] = Line[from][x];
}
