// SPDX-License-Identifier: MIT
// XXH3, in two uses that need no digest that resists an attacker. `Checksum`, with the public seed,
// tells whether bytes are still what they were: whoever could replace them could replace their sum,
// too. `ProcessHash` and Hash64 (digest.h) take a secret that this process draws at its start and
// that never leaves it: nobody outside can choose two inputs that meet. Ids and keys are in
// digest.h.
#pragma once

#include <cstdint>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"

namespace kiln {

// XXH3-128 and XXH3-64, seed 0; the first in canonical (big-endian) order. For what is stored.
Hash128 Checksum(ByteView bytes);
uint64_t Checksum64(ByteView bytes);

// XXH3-128 with the secret of this process: the key of a memo that never leaves it. Nothing that
// is visible may depend on its value.
Hash128 ProcessHash(ByteView bytes);

}  // namespace kiln
