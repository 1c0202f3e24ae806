// run: stage=check
// means: Intrinsics of Direct3D 9 take a sampler that knows its texture, which Vulkan's do not.
// fix: Write the method that the message names.
SamplerState s;
float4 f (float2 uv) { return tex2D (s, uv); }
