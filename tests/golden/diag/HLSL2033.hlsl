// run: stage=check
// means: The index is constant and lies outside.
// fix: Use an index that the type has.
float f (float3 v) { return v[3]; }
