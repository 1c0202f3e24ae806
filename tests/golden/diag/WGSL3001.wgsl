// run: stage=check
// means: All operands are known, and the operation has no value for them: division by zero, an overflow of numbers without a suffix, a shift too far, an index out of range.
// fix: Change an operand.
const kHalf = 1 / 0;
