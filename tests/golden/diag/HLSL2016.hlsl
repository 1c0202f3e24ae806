// run: stage=check
// means: A condition decides which way to go, so it is one value.
// fix: Reduce the vector with any or all, or use select.
float f (float2 v) {
  if (v > 0) return 1;
  return 0;
}
