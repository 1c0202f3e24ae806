// run: stage=check
// means: Integers have at most 64 bits, floats the range of their type: 32 bits with the suffix f, 64 without.
// fix: Write a number that fits.
static const float a = 1e39f;
static const int b = 18446744073709551616;
