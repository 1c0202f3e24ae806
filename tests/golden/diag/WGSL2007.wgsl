// run: stage=check
// means: Control can come to the end of a function that gives a value.
// fix: Return a value behind the last branch.
fn f(a : bool) -> u32 { if a { return 1; } }
