// run: stage=preprocess
// means: An #if has no #endif in its file.
// fix: Write the #endif.
#if 1
#ifdef FOG
float fog;
#endif
