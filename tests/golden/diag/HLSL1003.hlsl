// run: stage=preprocess
// means: A string is closed on its line, a comment by */, and the call of a macro by the parenthesis that belongs to its first, in the same file.
// fix: Write what closes it.
#define SCALE(x) ((x) * 2.0)
string title = "lantern;
float glow = SCALE(0.5;
