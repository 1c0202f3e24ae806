// run: stage=check
// means: The directive belongs to an '#if', and none is open here.
// fix: Remove it, or add the '#if' that it belongs to.
float a;
#endif
