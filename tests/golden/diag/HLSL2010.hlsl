// run: stage=check
// means: There is no conversion between these types here. A scalar becomes a vector, a vector a shorter one; nothing becomes longer.
// fix: Convert with a cast or a constructor.
float4 f (float3 v) { return v; }
