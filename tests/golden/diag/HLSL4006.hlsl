// run: stage=check
// means: Vulkan gathers comparisons of the first component only.
// fix: Use GatherCmp.
Texture2D t;
SamplerComparisonState s;
float4 f (float2 uv) { return t.GatherCmpGreen (s, uv, 0.5); }
