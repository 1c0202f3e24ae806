// SPDX-License-Identifier: MIT
// What is wrong with a request, said before anything is done for it. The texts have a shape from
// which FieldOf and LimitOf read the field and the limit again, for the detail of the reply: an
// Error on its way through other folders has room for text alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/base/result.h"

namespace kiln::rpc {

// Reasons of errors that are decided here; see proto/kiln/v1/README.md.
inline constexpr std::string_view kMalformed = "MALFORMED_REQUEST";
inline constexpr std::string_view kLimitExceeded = "LIMIT_EXCEEDED";
inline constexpr std::string_view kNotBuiltIn = "NOT_BUILT_IN";

Error Malformed(std::string_view field, std::string_view what);
Error NotBuiltIn(std::string_view what);
// kResourceExhausted, LIMIT_EXCEEDED.
Error AboveLimit(std::string_view limit, uint64_t max, uint64_t actual);
// The same about a number that `field` asks for: kInvalidArgument.
Error AsksTooMuch(std::string_view field, std::string_view limit, uint64_t max, uint64_t actual);
// The field that an error of Malformed named, dotted; empty for any other error.
std::string FieldOf(const Error& error);
// What an error of AboveLimit said, for the detail of the reply; nothing for any other error.
struct LimitHit {
  std::string limit;
  uint64_t max = 0, actual = 0;
};
std::optional<LimitHit> LimitOf(const Error& error);

}  // namespace kiln::rpc
