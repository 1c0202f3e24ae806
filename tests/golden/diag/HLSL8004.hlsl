// run: stage=check
// means: The construct belongs to a part of HLSL that this build of kiln does not have.
// fix: Write it without, or wait: docs/hlsl says what comes when.
template<typename T> T twice(T a) { return a + a; }
struct Packed { uint a : 4; };
