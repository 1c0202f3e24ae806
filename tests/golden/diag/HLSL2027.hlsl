// run: stage=check
// means: The size of an array is a positive number that is known when compiling.
// fix: Give such a size.
static float a[0];
