// run: stage=check
// means: The type that stands here is another one than the place needs, and no conversion leads from one to the other without being written.
// fix: Write the conversion, or change one of the types.
fn f() -> u32 { return 1.5f; }
