// run: stage=check
// means: A name stands for a declaration above it, and there is none of this name.
// fix: Declare it first, or mend its spelling.
float f () { return brightnes; }
