// run: stage=preprocess include=light.hlsli include=lib/mathematics.hlsli root=lib define=STEPS=4 hlsl.version=2018
#include "light.hlsli"
#include <mathematics.hlsli>
#if STEPS > 3 && __HLSL_VERSION == 2018
float4 shade(float3 at) {
    float total = SUM(1, 2, STEPS);
    for (int i = 0; i < STEPS; ++i)
        total += LIGHT(at,
                       i);
    return total;
}
#else
#error never
#endif
