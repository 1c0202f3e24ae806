// SPDX-License-Identifier: MIT
// How many messages a stage keeps. Errors and warnings are counted apart, so warnings never end a
// stage and never take the place of an error: whoever gives up has an error to show for it.
#pragma once

#include <cstddef>

#include "compiler/diag/diagnostic.h"

namespace kiln {

// Of errors, and of warnings: ten times what is ever shown.
inline constexpr size_t kMaxFound = 10 * kMaxDiagnostics;

class MessageCount {
 public:
  // Counts a message. False: there are so many of its severity that it is left out.
  bool Take(Severity severity) {
    size_t& count = severity == Severity::kError ? errors_ : warnings_;
    if (count == kMaxFound) {
      return false;
    }
    ++count;
    return true;
  }
  // Errors are as many as are kept: nothing more has to be looked for.
  bool IsFull() const { return errors_ == kMaxFound; }

 private:
  size_t errors_ = 0;
  size_t warnings_ = 0;
};

}  // namespace kiln
