// run: stage=preprocess include=light.hlsli include=lib/mathematics.hlsli include=chain.hlsli root=lib define=STEPS=1
#include "chain.hlsli"
#line 7 "made.fx"
float c = OUTER(2);
float d = @;
