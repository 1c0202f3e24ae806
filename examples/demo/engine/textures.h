// SPDX-License-Identifier: MIT
// Procedural textures with all their levels. Color images are sRGB, the others UNORM. The same
// pixels on every run.
#pragma once

#include <string_view>

#include "runtime/preview/upload.h"

namespace kiln::demo {

preview::ImageData White();         // sRGB, one texel
preview::ImageData Checker();       // sRGB, 4 × 4 squares
preview::ImageData Soil();          // sRGB, noise
preview::ImageData Stripes();       // sRGB, around u
preview::ImageData Holes();         // sRGB, round holes in alpha
preview::ImageData Bricks();        // sRGB
preview::ImageData BrickNormals();  // UNORM, tangent space
preview::ImageData BrickFactors();  // UNORM: x occlusion, y roughness, z metallic
preview::ImageData Sparks();        // sRGB, emissive lines

// UNORM, one square cell per letter: 0.5 on the outline, more inside. Letters of "KILN".
preview::ImageData GlyphAtlas(std::string_view letters);

}  // namespace kiln::demo
