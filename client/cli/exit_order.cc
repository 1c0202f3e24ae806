// SPDX-License-Identifier: MIT
#include "client/cli/exit_order.h"

#include <algorithm>
#include <array>

#include "client/cli/failure.h"

namespace kiln::cli {

int WorseExit(int a, int b) {
  constexpr std::array kWorstFirst = {kInternal,    kIntegrity, kNotPermitted, kUsage,
                                      kUnreachable, kLimit,     kDeadline,     kPartial,
                                      kWrongSource, kNotFound};
  for (const int exit : kWorstFirst) {
    if (a == exit || b == exit) {
      return exit;
    }
  }
  return std::max(a, b);
}

}  // namespace kiln::cli
