// SPDX-License-Identifier: MIT
// What the reason of an error means and what to do about it: reasons.def as data. See
// spec/daemon 2.4
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kiln {

// Whether a call may be repeated as it is.
enum class Repeat : uint8_t { kNo, kYes, kAfter };

struct Reason {
  std::string_view word;     // "QUEUE_FULL"
  std::string_view status;   // names of gRPC statuses, separated by ", "
  Repeat repeat;             // kAfter: after what the help says
  std::string_view meaning;  // half a sentence, without an end
  std::string_view help;     // what to do, or empty where the message says it all
};

// In the order of reasons.def.
std::span<const Reason> AllReasons();

// Null if there is no such word.
const Reason* FindReason(std::string_view word);

// "no", "yes", "after what the help says".
std::string_view RepeatText(Repeat repeat);

}  // namespace kiln
