// run: stage=check
// means: A macro is defined a second time with another text. The later one holds from here on.
// fix: Remove one of the definitions, or write '#undef' before the second.
#define SIZE 4
#define SIZE 8
static const int a = SIZE;
