// run: stage=check
// means: The selector picks the case whose label it equals, so labels differ.
// fix: Remove one of them.
int f (int n) {
  switch (n) {
    case 1: return 1;
    case 1: return 2;
    default: return 0;
  }
}
