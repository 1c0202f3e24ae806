// Bitonic sorting of pairs, in shared memory and across groups.
// run: compute=cs_local
// run: compute=cs_global
struct Pair { float key; uint value; };
RWStructuredBuffer<Pair> List : register(u0);
cbuffer Sort : register(b0) { uint Count; uint K; uint J; };
groupshared Pair Local[1024];
void CompareSwap(inout Pair a, inout Pair b, bool ascending) {
    if ((a.key > b.key) == ascending) {
        Pair t = a;
        a = b;
        b = t;
    }
}
[numthreads(512, 1, 1)]
void cs_local(uint3 group : SV_GroupID, uint thread : SV_GroupIndex) {
    uint base = group.x * 1024;
    Local[thread] = List[base + thread];
    Local[thread + 512] = List[base + thread + 512];
    for (uint k = 2; k <= 1024; k <<= 1) {
        for (uint j = k >> 1; j > 0; j >>= 1) {
            GroupMemoryBarrierWithGroupSync();
            uint i = 2 * thread - (thread & (j - 1));
            CompareSwap(Local[i], Local[i + j], ((base + i) & k) == 0);
        }
    }
    GroupMemoryBarrierWithGroupSync();
    List[base + thread] = Local[thread];
    List[base + thread + 512] = Local[thread + 512];
}
[numthreads(256, 1, 1)]
void cs_global(uint3 id : SV_DispatchThreadID) {
    uint i = id.x, other = i ^ J;
    if (other > i && other < Count) {
        Pair a = List[i], b = List[other];
        CompareSwap(a, b, (i & K) == 0);
        List[i] = a;
        List[other] = b;
    }
}
