// run: stage=check
// means: Both name the same memory, and one of them writes it: the call would mean different things on different devices.
// fix: Pass a copy of one of them.
fn add(a : ptr<function, u32>, b : ptr<function, u32>) { *a += *b; }
fn f() { var x = 1u; add(&x, &x); }
