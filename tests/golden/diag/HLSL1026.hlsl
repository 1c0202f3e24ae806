// run: stage=preprocess
// means: A macro is used with fewer or more arguments than it has parameters. Commas inside of parentheses separate no arguments, those inside of braces and brackets do.
// fix: Give one argument for each parameter; put parentheses around an argument with commas.
#define MIX(a, b) lerp(a, b, 0.5)
float x = MIX(1);
float y = MIX(1, 2, 3);
