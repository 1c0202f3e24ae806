// run: stage=check
// means: The left side of an assignment denotes storage that may be changed.
// fix: Assign to a variable, or remove const.
void f (const float x) { x = 1; }
