// run: stage=check
// means: Techniques, passes, sampler states and annotations belong to the effect framework. They change nothing.
// fix: Remove them, or leave them for other compilers.
float4 tint < string name = "Tint"; >;
technique Draw { pass One { } }
