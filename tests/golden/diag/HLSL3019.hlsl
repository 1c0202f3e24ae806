// run: stage=close entry=vertex:main
// means: Levels and derivatives come from neighbouring pixels, which other stages do not have.
// fix: Use SampleLevel or SampleGrad.
Texture2D t;
SamplerState s;
float4 main (float2 uv : UV) : SV_Position { return t.Sample (s, uv); }
