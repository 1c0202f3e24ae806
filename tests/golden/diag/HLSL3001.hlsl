// run: stage=check
// means: The statement leaves or continues something that is not around it.
// fix: Move it, or remove it.
void f () { break; }
