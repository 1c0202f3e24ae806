// run: stage=preprocess
// means: #elif, #else and #endif belong to an #if of the same file. Behind #else there is only #endif.
// fix: Remove the line, or write the #if that is missing.
float a;
#endif
#if 1
#else
#elif 1
#endif
