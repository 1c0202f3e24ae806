// run: stage=check
// means: Nothing in the loop leaves it: no `break`, no `return`, no condition.
// fix: Add a way out.
fn f() { loop { } }
