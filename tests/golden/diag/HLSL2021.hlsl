// run: stage=check
// means: No function of this name takes such arguments.
// fix: Convert the arguments, or call one of the functions that the message names.
float f (float2 v) { return v.x; }
float g (float3x3 m) { return f (m); }
