// run: stage=check
// means: Arrays, vectors and matrices have elements.
// fix: Remove the index.
float f (float x) { return x[0]; }
