// run: stage=check
// means: What a swizzle with a repeated letter would hold after a store is not defined.
// fix: Name each component once.
void f (inout float2 v) { v.xx = 1; }
