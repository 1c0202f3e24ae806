// An exclusive sum of a list of numbers, block by block.
// run: compute=cs_blocks
// run: compute=cs_add
#define THREADS 256
#define ITEMS (THREADS * 2)
cbuffer Scan : register(b0) { uint Count; uint BlockCount; };
RWStructuredBuffer<uint> Data : register(u0);
RWStructuredBuffer<uint> Sums : register(u1);
groupshared uint Shared[ITEMS + ITEMS / 32];

uint Slot(uint i) { return i + (i >> 5); }

[numthreads(THREADS, 1, 1)]
void cs_blocks(uint3 group : SV_GroupID, uint thread : SV_GroupIndex) {
    uint base = group.x * ITEMS;
    uint a = thread, b = thread + THREADS;
    Shared[Slot(a)] = base + a < Count ? Data[base + a] : 0;
    Shared[Slot(b)] = base + b < Count ? Data[base + b] : 0;
    uint offset = 1;
    uint d;
    for (d = ITEMS >> 1; d > 0; d >>= 1) {
        GroupMemoryBarrierWithGroupSync();
        if (thread < d) {
            uint i = Slot(offset * (2 * thread + 1) - 1), j = Slot(offset * (2 * thread + 2) - 1);
            Shared[j] += Shared[i];
        }
        offset *= 2;
    }
    if (thread == 0) {
        Sums[group.x] = Shared[Slot(ITEMS - 1)];
        Shared[Slot(ITEMS - 1)] = 0;
    }
    for (d = 1; d < ITEMS; d *= 2) {
        offset >>= 1;
        GroupMemoryBarrierWithGroupSync();
        if (thread < d) {
            uint i = Slot(offset * (2 * thread + 1) - 1), j = Slot(offset * (2 * thread + 2) - 1);
            uint t = Shared[i];
            Shared[i] = Shared[j];
            Shared[j] += t;
        }
    }
    GroupMemoryBarrierWithGroupSync();
    if (base + a < Count) Data[base + a] = Shared[Slot(a)];
    if (base + b < Count) Data[base + b] = Shared[Slot(b)];
}
[numthreads(THREADS, 1, 1)]
void cs_add(uint3 id : SV_DispatchThreadID, uint3 group : SV_GroupID) {
    if (group.x > 0 && id.x < Count)
        Data[id.x] += Sums[group.x / 2];
}
