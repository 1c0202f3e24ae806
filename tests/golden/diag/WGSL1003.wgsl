// run: stage=check
// means: The word is kept for later versions of the language, so nothing may be called by it. Names that begin with two underscores are kept, too.
// fix: Choose another name.
fn f() { let from = 1; }
