// run: stage=check
// means: The name is there, but is of another kind than what stands here.
// fix: Use a name of that kind.
struct Light { float3 color; };
float f () { return Light; }
