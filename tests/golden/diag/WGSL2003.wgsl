// run: stage=check
// means: A scope has one declaration of a name. Parameters and the body of a function are one scope.
// fix: Rename one of them.
fn f(a : u32) { let a = 1; }
