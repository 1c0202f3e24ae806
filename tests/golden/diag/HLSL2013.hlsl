// run: stage=check
// means: The operator has no common type for these two operands.
// fix: Make the operands scalars, or vectors or matrices of one size.
float3x3 f (float3x3 m, float3 v) { return m * v; }
