// SPDX-License-Identifier: MIT
// Which of two exit codes tells more, for commands that do several things (spec/cli 4.1). A code
// that is in no list, such as that of a signal, is compared by number.
#include "client/cli/exit_order.h"

#include <algorithm>
#include <array>

#include "client/cli/failure.h"

namespace kiln::cli {

// The list is short and constant, so it is searched in order. 0 is in no place of it: it loses
// against every failure.
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
