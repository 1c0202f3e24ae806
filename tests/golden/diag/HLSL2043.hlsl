// run: stage=check
// means: The value of the expression is not used and nothing else happens.
// fix: Remove it, or assign its value.
void f (float x) { x + 1; }
