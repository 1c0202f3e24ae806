// SPDX-License-Identifier: MIT
// One line of --json. Spec: cli §7.1
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

#include "client/cli/print.h"

namespace kiln::cli {

// A number; above 2^53, where readers lose digits, its decimal text.
inline nlohmann::ordered_json JsonCount(uint64_t count) {
  constexpr uint64_t kLargestExact = uint64_t{1} << 53;
  return count > kLargestExact ? nlohmann::ordered_json(std::to_string(count))
                               : nlohmann::ordered_json(count);
}

// What is no UTF-8 in it is replaced, controls are escaped.
inline void PrintLine(const nlohmann::ordered_json& object) {
  Print("{}\n", Styled{PrintableJson(object.dump(
                    -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace))});
}

}  // namespace kiln::cli
