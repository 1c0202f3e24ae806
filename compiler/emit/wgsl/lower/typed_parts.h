// SPDX-License-Identifier: MIT
// Instructions of typed modules of which WGSL has a part, or more than the IR: their text is that
// part, and what the front end of WGSL wrote around them is left out, so that it is not written
// twice. Private to this folder. See spec/wgsl 3.16.
#pragma once

#include <cstdint>

namespace kiln::wgsl {

class RegionLowering;

// Finds them, before any text is made:
//   a sample of a depth texture of which the first number is used      the number itself
//   the size of an array of which the dimensions, or the layers, are   one of two functions
//   the level of a depth texture as a float that was an integer        the integer
//   the count of a shift that was made signed                          the unsigned one
//   offset and count of a field of bits that are kept in the word      WGSL does that itself
// Requires: the uses of values are counted.
void PrepareParts(RegionLowering& region);

}  // namespace kiln::wgsl
