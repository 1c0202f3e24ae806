// run: stage=check
// means: In one scope a name has one declaration; functions may share one if their parameters differ.
// fix: Rename one of them.
float f (float a) {
  float x = a;
  int x = 1;
  return x;
}
