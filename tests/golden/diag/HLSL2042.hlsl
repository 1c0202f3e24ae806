// run: stage=check
// means: A quotient by zero is infinite for floats and undefined for integers.
// fix: Divide by something else.
float f (float x) { return x / 0; }
