// run: stage=check
// means: A rule of the language forbids it; the message says which.
// fix: Change it as the rule wants it.
fn f() { break; }
