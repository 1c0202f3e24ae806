// run: stage=check
// means: It begins like a number and is none: decimal integers do not begin with 0, and a suffix is one of `i u f h`.
// fix: Write the number as the language has it.
const kMask = 0x12g;
