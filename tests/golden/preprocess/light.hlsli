#pragma once
#include <mathematics.hlsli>
#define LIGHT(at, i) SQUARE(lights[i].place - at)
struct Light { float3 place; };
Light lights[STEPS];
