// run: stage=check
// means: What begins with a digit is a number as a whole, with nothing but a suffix behind it.
// fix: Write the number as decimal, octal or hexadecimal integer, or as a float, or put a space behind it.
static const int a = 12px;
