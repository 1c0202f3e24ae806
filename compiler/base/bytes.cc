// SPDX-License-Identifier: MIT
// Growth of byte strings.
#include "compiler/base/bytes.h"

namespace kiln {

void Append(Bytes& out, ByteView bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

}  // namespace kiln
