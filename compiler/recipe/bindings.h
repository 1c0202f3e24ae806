// SPDX-License-Identifier: MIT
// Names and numbers of resources in translated text. Private to compiler/recipe.
//
// A number depends on the set and binding of the resource and on nothing else, so that all stages
// of a program agree, whatever each of them uses:
//   GLSL             4 × binding + set; a combined image and sampler has a name only, push
//                    constants are plain uniforms
//   MSL              4 × binding + set, of buffers, textures and samplers alike; push constants are
//                    [[buffer(30)]]
//   HLSL from 5.1    register binding, space set; push constants are b0 of space 4
//   HLSL 5.0         4 × binding + set; push constants are b13
// Resources go by their names; those without one by "set1_binding2".
#pragma once

#include <string>

#include <spirv_cross/spirv_cross_c.h>

#include "compiler/recipe/recipe.h"

namespace kiln::recipe {

// Names and numbers everything, before the text is made. `map` is what stands at its end: a comment
// line for each resource, by set and binding, and for each combined image and sampler.
//   // kiln: set 1 binding 2 'albedo' is 9
// `wrong`: not empty if the language has no such numbers, or an array would take those of others.
spvc_result PlaceResources(spvc_compiler compiler, const Dialect& dialect, std::string& map,
                           std::string& wrong);

}  // namespace kiln::recipe
