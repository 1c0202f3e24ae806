// SPDX-License-Identifier: MIT
// Digests of several contents at once: what a variant is made of is hashed together, two contents
// in one loop (sha256_blocks.h).
#pragma once

#include <span>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"

namespace kiln {

// digests[i] = DigestOf(contents[i]). Requires: as many digests as contents.
void DigestsOf(std::span<const ByteView> contents, std::span<Digest> digests);

}  // namespace kiln
