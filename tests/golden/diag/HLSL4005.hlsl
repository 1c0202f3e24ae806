// run: stage=check
// means: Texel offsets are part of the instruction, from -8 to 7.
// fix: Use a constant, or add the offset to the coordinate.
Texture2D t;
SamplerState s;
float4 f (float2 uv) { return t.Sample (s, uv, int2 (9, 0)); }
