// SPDX-License-Identifier: MIT
// Case files: declarations as JSON -> the same file with what the engine makes of them, or the
// differences from what the file expects. The format is spec/layout 17.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/result.h"

namespace kiln::layout {

struct AnsweredCases {
  std::string text;                 // the file with `expect` of every case filled in
  std::vector<std::string> errors;  // "binding/B1: 'Blob' is not a type": such a case stays
};
// What the engine makes of the cases: all targets and rule sets that apply. Errors:
// kInvalidArgument if the text is no case file.
Result<AnsweredCases> AnswerCases(std::string_view text);

struct CaseDifference {
  std::string path;      // "layout/L04/expect/std140/size"
  std::string expected;  // JSON; empty: nothing is expected there
  std::string found;     // JSON; empty: nothing is there
};
struct CheckedCases {
  std::vector<CaseDifference> differences;
  std::vector<std::string> errors;
};
// What the engine makes of the cases against their `expect`. Targets and rule sets that a case does
// not mention are not compared. Errors: as above.
Result<CheckedCases> CheckCases(std::string_view text);

// The dumps of the programs of the file, for people.
Result<AnsweredCases> DumpCases(std::string_view text);

}  // namespace kiln::layout
