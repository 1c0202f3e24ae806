// run: stage=check
// means: An atomic changes memory that invocations share.
// fix: Use groupshared memory or a writable buffer.
void f (inout uint x) { InterlockedAdd (x, 1); }
