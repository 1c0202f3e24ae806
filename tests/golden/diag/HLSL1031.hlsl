// run: stage=preprocess
// means: The condition of an #if is an expression over integers, macros and defined. Names that are no macros count as 0. Nothing is divided by zero.
// fix: Write such an expression.
#if QUALITY >
#endif
#if 1.5 < 2
#endif
#if 1 / 0
#endif
