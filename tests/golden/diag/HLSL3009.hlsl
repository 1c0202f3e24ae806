// run: stage=check
// means: A jump before it means that control never comes here.
// fix: Remove it.
float f () {
  return 1;
  float x = 2;
}
