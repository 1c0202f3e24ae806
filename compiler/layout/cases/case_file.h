// SPDX-License-Identifier: MIT
// Case files: declarations as JSON -> the same file with what the engine makes of them, or the
// differences from what the file expects. The format is layout.md 17.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/result.h"

namespace kiln::layout {

// The file with `expect` of every case filled in by the engine: all targets and rule sets that
// apply. Errors: kInvalidArgument if the text is no case file.
Result<std::string> AnswerCases(std::string_view text);

struct CaseDifference {
  std::string path;      // "layout/L04/expect/std140/size"
  std::string expected;  // JSON; empty: nothing is expected there
  std::string found;     // JSON; empty: nothing is there
};
// What the engine makes of the cases against their `expect`. Targets and rule sets that a case does
// not mention are not compared. Errors: as above.
Result<std::vector<CaseDifference>> CheckCases(std::string_view text);

// The dumps of the programs of the file, for people.
Result<std::string> DumpCases(std::string_view text);

}  // namespace kiln::layout
