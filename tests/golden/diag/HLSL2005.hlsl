// run: stage=check
// means: The struct has no such member.
// fix: Use one that it has.
struct Light { float3 color; };
float3 f (Light light) { return light.colour; }
