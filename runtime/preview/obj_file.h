// SPDX-License-Identifier: MIT
// Meshes of Wavefront files for previews: positions, normals, texture coordinates, polygons.
// Materials, groups, curves and colors are passed over. See spec/cli 6.9, spec/pso 10.2
#pragma once

#include <string_view>

#include "compiler/base/result.h"
#include "runtime/preview/shape.h"

namespace kiln::preview {

// Centred and scaled into the radius of the built-in sphere; counter-clockwise as the format has
// it. Normals that are missing are those of the faces. Errors: kInvalidArgument (USAGE) with the
// line that is wrong, or if there is no face.
Result<Shape> ReadObj(std::string_view text);

}  // namespace kiln::preview
