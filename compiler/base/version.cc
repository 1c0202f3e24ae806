// SPDX-License-Identifier: MIT
#include "compiler/base/version.h"

namespace kiln {

std::string_view Version() { return KILN_VERSION; }

}  // namespace kiln
