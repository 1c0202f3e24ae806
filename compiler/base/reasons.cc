// SPDX-License-Identifier: MIT
#include "compiler/base/reasons.h"

#include <algorithm>

#include "compiler/base/check.h"

namespace kiln {
namespace {

using enum Repeat;

// The rows are those of reasons.def, in its order.
#define KILN_REASON(word, status, repeat, meaning, help) {#word, status, repeat, meaning, help},
constexpr Reason kReasons[] = {
#include "compiler/base/reasons.def"
};
#undef KILN_REASON

}  // namespace

std::span<const Reason> AllReasons() { return kReasons; }

// Linear: the table is short, and a reason is looked up when something has already failed.
const Reason* FindReason(std::string_view word) {
  const auto* row = std::ranges::find(kReasons, word, &Reason::word);
  return row != std::ranges::end(kReasons) ? row : nullptr;
}

// What a user is told about trying again.
std::string_view RepeatText(Repeat repeat) {
  switch (repeat) {
    case kNo:
      return "no";
    case kYes:
      return "yes";
    case kAfter:
      return "after what the help says";
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln
