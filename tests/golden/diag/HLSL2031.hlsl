// run: stage=check
// means: Nothing of this kind can have such a type.
// fix: Use another type.
static void x;
