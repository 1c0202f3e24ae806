// run: stage=check
// means: A swizzle has one to four letters of xyzw or rgba, within the size of the vector; an element of a matrix is _m00 or _11.
// fix: Use letters of one set that the type has.
float f (float2 v) { return v.z; }
