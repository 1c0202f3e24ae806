// run: stage=check
// means: An include names its file in quotes or angle brackets, after macros are expanded.
// fix: Put the path in quotes.
#include light.hlsli
