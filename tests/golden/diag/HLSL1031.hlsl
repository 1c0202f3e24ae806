// run: stage=check
// means: '#if' computes with integers, names of macros, 'defined' and the operators of C.
// fix: Write an integer expression.
#if 1.5 > 1
#endif
