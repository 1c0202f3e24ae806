// run: stage=preprocess
// means: A macro is defined again, differently. From here on the new definition counts.
// fix: Write #undef before it, or give one of them another name.
#define STEPS 4
#define STEPS 8
