// run: stage=preprocess
// means: There is no such pragma here, so the line changes nothing.
// fix: Remove it. Known are once, pack_matrix and message; warning and dxc diagnostic are ignored.
#pragma optimize(off)
