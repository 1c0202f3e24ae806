// SPDX-License-Identifier: MIT
#include "tone.hlsli"
cbuffer Grade { Tone grade; };
float3 Mapped(float3 color)
{
    float3 exposed = color * grade.exposure;
    return exposed / (exposed + kWhite) * grade.tint;
}
