// run: stage=preprocess
// means: Files include each other too deep, most often a file itself without a guard.
// fix: Write #pragma once at the top of the file.
// it includes itself
#include "HLSL1012.hlsl"
