// SPDX-License-Identifier: MIT
struct Tone { float exposure; float3 tint; };
static const float kWhite = 4;
