// run: stage=preprocess
// means: Digits are followed by something that is no suffix of a number. Integers are decimal, octal (0 first) or hexadecimal (0x), with u, l or both; floats have a dot or an exponent, and f, h or l.
// fix: Write a number of one of these forms. Octal numbers have no 8 and 9.
float radius = 1.0x;
int count = 08;
int mask = 0b101;
