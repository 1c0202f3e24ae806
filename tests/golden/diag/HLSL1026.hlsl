// run: stage=check
// means: A call of a macro has as many arguments as the macro has parameters.
// fix: Give the arguments that are declared.
#define MAX3(a, b, c) max(a, max(b, c))
static const int a = MAX3(1, 2);
