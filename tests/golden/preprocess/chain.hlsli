#include "light.hlsli"
#define INNER(x) (x ` 1)
#define OUTER(x) INNER(x)
float a = OUTER(1);
float b = SQUARE(1, 2);
