// run: stage=check
// means: Atomics are of scalar integers of 32 bits.
// fix: Use int or uint.
groupshared float2 total;
void f () { InterlockedAdd (total, 1); }
