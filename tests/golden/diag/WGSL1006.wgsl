// run: stage=check
// means: The left side of an assignment is a variable or a part of one, in memory that may be written. A swizzle of several components is a value.
// fix: Assign to a variable; assign components one by one.
fn f() { var a = vec3f(); a.xy = vec2f(1); }
