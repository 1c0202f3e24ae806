// run: stage=check
// means: Bitwise operators and shifts are of integers.
// fix: Convert the operand, or use asuint for its bits.
uint f (float x) { return x & 1; }
