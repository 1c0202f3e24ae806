// One pass of a sort by digits: counts, then places.
// run: compute=cs_count
// run: compute=cs_scatter
#define BITS 4
#define DIGITS (1 << BITS)
#define THREADS 128
struct Sort {
    uint shift;
    uint count;
    uint groups;
    uint pad;
};
ConstantBuffer<Sort> Params : register(b0);
StructuredBuffer<uint2> Source : register(t0);
StructuredBuffer<uint> Offsets : register(t1);
RWStructuredBuffer<uint2> Destination : register(u0);
RWStructuredBuffer<uint> Histogram : register(u1);
groupshared uint Local[DIGITS];
groupshared uint Keys[THREADS];

uint DigitOf(uint key) { return (key >> Params.shift) & (DIGITS - 1); }

[numthreads(THREADS, 1, 1)]
void cs_count(uint3 id : SV_DispatchThreadID, uint3 group : SV_GroupID, uint thread : SV_GroupIndex) {
    if (thread < DIGITS)
        Local[thread] = 0;
    GroupMemoryBarrierWithGroupSync();
    if (id.x < Params.count)
        InterlockedAdd(Local[DigitOf(Source[id.x].x)], 1);
    GroupMemoryBarrierWithGroupSync();
    if (thread < DIGITS)
        Histogram[thread * Params.groups + group.x] = Local[thread];
}
[numthreads(THREADS, 1, 1)]
void cs_scatter(uint3 id : SV_DispatchThreadID, uint3 group : SV_GroupID, uint thread : SV_GroupIndex) {
    uint2 item = id.x < Params.count ? Source[id.x] : uint2(0xffffffff, 0);
    uint digit = DigitOf(item.x);
    Keys[thread] = digit;
    GroupMemoryBarrierWithGroupSync();
    uint rank = 0;
    for (uint i = 0; i < thread; ++i)
        rank += Keys[i] == digit ? 1 : 0;
    if (id.x < Params.count)
        Destination[Offsets[digit * Params.groups + group.x] + rank] = item;
}
