// run: stage=close entry=fragment:main
// means: Shaders have no stack, so no function calls itself, not even through others.
// fix: Write a loop.
float f (float x) { return x > 1 ? f (x - 1) : x; }
float4 main () : SV_Target { return f (4); }
