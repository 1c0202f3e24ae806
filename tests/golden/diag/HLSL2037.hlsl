// run: stage=check hlsl.version=2018
// means: In HLSL 2018 the variable of a loop is visible behind it, and the next loop declares one of the same name.
// fix: Rename it, or set the version to 2021.
int f () {
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += i;
  for (int i = 0; i < 4; ++i) sum -= i;
  return sum;
}
