// run: stage=check
// means: A vector or matrix that is assigned to a smaller one loses its last items.
// fix: Write the swizzle or the cast that says so.
float2 f (float4 v) { return v; }
