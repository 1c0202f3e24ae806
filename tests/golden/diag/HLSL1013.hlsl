// run: stage=preprocess
// means: Behind #include there is a path in quotes or angle brackets, or macros that come to one.
// fix: Put quotes around the path.
#include fog.hlsli
#define FOG fog
#include FOG
