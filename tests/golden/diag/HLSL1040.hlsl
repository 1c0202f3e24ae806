// run: stage=preprocess
// means: Something else has to stand here.
// fix: Write what is expected.
#define 3D 1
#define MIN(a, 2) a
#ifdef
#endif
#pragma pack_matrix(diagonal)
