// SPDX-License-Identifier: MIT
// How metadata call a type of images: image_color_2d_ms_array. compiler/artifact/image_types.def
// has all of them.
#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/types.h"

namespace kiln::metadata {

// Requires: the dimension is not that of subpasses, which no front end makes.
std::string ImageName(const ir::ImageTraits& traits);

// Of a texel: "uint", "sint", or nothing, which is a float.
std::string_view TexelItem(ir::Scalar scalar);

}  // namespace kiln::metadata
