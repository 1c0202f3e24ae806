// run: stage=check
// means: The name is no local that is visible here, no declaration of the module and no word of the language.
// fix: Declare it, or mend its spelling.
fn f() -> f32 { return brightnes; }
