// run: stage=check
// means: The place needs a value that is known when the module is read, or when its overrides are. This one is known only when the shader runs.
// fix: Use a `const` or an `override`.
fn f(a : u32) { const b = a; }
