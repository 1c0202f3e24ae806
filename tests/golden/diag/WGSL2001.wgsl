// run: stage=check
// means: No row of the operator or function takes operands of these types. Numbers without a suffix become what they have to be; other values convert only where a type is written.
// fix: Convert an operand: `f32(x)`.
fn f(a : i32, b : f32) -> f32 { return a * b; }
