// run: stage=check
// means: What cannot be assigned later has its value from the beginning.
// fix: Give an initialiser.
float f () {
  const float x;
  return 1;
}
