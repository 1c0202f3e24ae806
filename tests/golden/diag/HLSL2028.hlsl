// run: stage=check
// means: The value is needed when compiling, and this one is known only at run time.
// fix: Use literals, static const scalars and options.
float f (int n) {
  switch (n) { case n: return 1; default: return 0; }
}
