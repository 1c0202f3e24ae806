// run: stage=check
// means: A constructor or list gives every item of its type one value.
// fix: Give as many values as the type has items.
float3 f () { return float3 (1, 2); }
