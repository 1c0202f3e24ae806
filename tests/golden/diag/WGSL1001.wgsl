// run: stage=check
// means: A token stands where the grammar of WGSL has none: something is missing before it, or it does not belong. Operators of different kinds need parentheses between them.
// fix: Write what is expected, or remove the token.
fn f(a : u32) -> u32 { return a & 1u + 2u; }
