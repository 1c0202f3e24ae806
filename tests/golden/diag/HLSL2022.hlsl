// run: stage=check
// means: Several functions fit, and none is better than all others.
// fix: Cast an argument to the type that is meant.
float f (float a, int b) { return a; }
float f (int a, float b) { return b; }
float g () { return f (1.0, 2.0); }
