// run: stage=check
// means: Every '#if' ends with '#endif', in the same file.
// fix: Add '#endif'.
#if 1
float a;
