// SPDX-License-Identifier: MIT
#include "client/cli/project/leads_out.h"

namespace kiln::cli {

bool LeadsOut(const std::filesystem::path& path) {
  const std::filesystem::path normal = path.lexically_normal();
  return path.is_absolute() || (!normal.empty() && *normal.begin() == "..");
}

}  // namespace kiln::cli
