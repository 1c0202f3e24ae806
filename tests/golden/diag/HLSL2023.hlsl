// run: stage=check
// means: What comes back from an out parameter needs a place to go.
// fix: Pass a variable.
void f (out float x) { x = 1; }
void g () { f (2.0); }
