// SPDX-License-Identifier: MIT
// XXH3 of long inputs with the widest vectors that the processor has. Internal to base.
#pragma once

#include "compiler/base/digest.h"

namespace kiln {

// Checksum is the same for every input; this is faster for those of some hundred bytes and more.
Hash128 WideChecksum(ByteView bytes);

}  // namespace kiln
