// run: stage=preprocess
// means: An integer has more bits than its type, or than the 64 that #if computes with.
// fix: Write a smaller number.
#if 0x10000000000000000 > 1
float a;
#endif
