// run: stage=check
// means: Every path of a function that is not void ends in a return.
// fix: Add a return.
float f (bool b) {
  if (b) return 1;
}
