// run: stage=check
// means: What '##' puts together has to be one token.
// fix: Remove the '##', or paste parts that make a name or a number.
#define JOIN(a, b) a##b
static const int a = JOIN(+, 1);
