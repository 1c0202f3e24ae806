// SPDX-License-Identifier: MIT
// SHA-512, as signatures are made of it; everything else takes SHA-256. Source: FIPS 180-4.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "compiler/base/bytes.h"

namespace kiln {

using Sha512Digest = std::array<uint8_t, 64>;

// Of the parts one behind the other.
Sha512Digest Sha512(std::initializer_list<ByteView> parts);

}  // namespace kiln
