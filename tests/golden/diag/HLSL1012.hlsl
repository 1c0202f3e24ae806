// run: stage=check with=HLSL1012.hlsl
// means: Includes nest at most 64 deep; a file that includes itself is the usual cause.
// fix: Break the circle with '#pragma once' or a guard.
#include "HLSL1012.hlsl"
