// SPDX-License-Identifier: MIT
// Nothing is skipped silently: tests that miss something of a device stand in tests/skips.txt, with
// what they miss. Lines of that file + what became of a test -> a complaint or nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/result.h"

namespace kiln::testing_support {

enum class SkipWhere : uint8_t {
  kLavapipe,   // must be skipped there, may be elsewhere
  kElsewhere,  // must not be skipped on lavapipe
  kAnywhere,
};

struct ListedSkip {
  SkipWhere where = SkipWhere::kAnywhere;
  std::string test;  // "program.Suite.Case"
  std::string item;  // what is missing
};

// Errors: kInvalidArgument naming the line.
Result<std::vector<ListedSkip>> ReadSkipList(std::string_view text);

struct Outcome {
  std::string test;  // "program.Suite.Case"
  bool skipped = false;
  std::string reason;  // as the test gave it
  bool lavapipe = false;
};

// What is wrong with it; empty if nothing is.
std::string JudgeSkip(const std::vector<ListedSkip>& list, const Outcome& outcome);

}  // namespace kiln::testing_support
