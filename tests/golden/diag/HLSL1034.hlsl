// run: stage=check
// means: kiln knows the pragmas once, pack_matrix and message; warning and dxc diagnostic are read over.
// fix: Remove the pragma if nothing needs it.
#pragma optimize(off)
