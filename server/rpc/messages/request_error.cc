// SPDX-License-Identifier: MIT
// Errors about requests, made and read back. Their texts have a fixed form, from which the field
// and the limit of an error detail are taken (spec/daemon 2).
#include "server/rpc/messages/request_error.h"

#include <charconv>

#include <fmt/format.h>

namespace kiln::rpc {

Error Malformed(std::string_view field, std::string_view what) {
  return {.code = ErrorCode::kInvalidArgument,
          .context = fmt::format("{}: {}", field, what),
          .reason = std::string(kMalformed)};
}

Error NotBuiltIn(std::string_view what) {
  return {.code = ErrorCode::kUnimplemented,
          .context = fmt::format("{}: not in this build", what),
          .reason = std::string(kNotBuiltIn)};
}

Error AboveLimit(std::string_view limit, uint64_t max, uint64_t actual) {
  return {.code = ErrorCode::kResourceExhausted,
          .context = fmt::format("{}: {} exceeds the limit of {}", limit, actual, max),
          .reason = std::string(kLimitExceeded)};
}

// The field of an error is read back from its text, so that layers in between need not carry it.
// Only texts that Malformed made have this form.
std::string FieldOf(const Error& error) {
  const std::string_view text = error.context;
  const size_t colon = text.find(": ");
  const bool is_field = error.reason == kMalformed && colon != std::string_view::npos &&
                        text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") == colon;
  return is_field ? std::string(text.substr(0, colon)) : std::string();
}

// A limit that a request states itself is an invalid argument and no exhausted resource: asking
// again later will not help.
Error AsksTooMuch(std::string_view field, std::string_view limit, uint64_t max, uint64_t actual) {
  Error error = WithContext(AboveLimit(limit, max, actual), field);
  error.code = ErrorCode::kInvalidArgument;
  return error;
}

// The last " exceeds the limit of " is not looked for: names of limits do not have these words.
std::optional<LimitHit> LimitOf(const Error& error) {
  if (error.reason != kLimitExceeded) {
    return std::nullopt;
  }
  // "limit: actual exceeds the limit of max", perhaps behind what was added on the way.
  constexpr std::string_view kMiddle = " exceeds the limit of ";
  const std::string_view text = error.context;
  const size_t middle = text.find(kMiddle);
  const size_t colon = text.rfind(": ", middle);
  LimitHit hit;
  if (middle == std::string_view::npos || colon == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view actual = text.substr(colon + 2, middle - colon - 2);
  const std::string_view max = text.substr(middle + kMiddle.size());
  (void)std::from_chars(actual.data(), actual.data() + actual.size(), hit.actual);
  (void)std::from_chars(max.data(), max.data() + max.size(), hit.max);
  const size_t before = text.rfind(": ", colon - 1);
  hit.limit = text.substr(before == std::string_view::npos ? 0 : before + 2,
                          colon - (before == std::string_view::npos ? 0 : before + 2));
  return hit;
}

}  // namespace kiln::rpc
