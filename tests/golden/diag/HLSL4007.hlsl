// run: stage=check
// means: The type has no method of this name.
// fix: Use one that it has.
Texture2D t;
float4 f (float2 uv) { return t.Store (uv); }
