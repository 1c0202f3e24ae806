// SPDX-License-Identifier: MIT
#include "compiler/base/text/json_row.h"

#include "compiler/base/printable.h"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

Json TextOrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

Json JsonCount(uint64_t count) {
  // Readers of JSON keep numbers as doubles: beyond 2^53 a text keeps all digits.
  constexpr uint64_t kLargestExact = uint64_t{1} << 53;
  return count > kLargestExact ? Json(std::to_string(count)) : Json(count);
}

std::string JsonLine(const Json& row) {
  // Texts of others may be ill-formed; they are replaced and never thrown about. The row stays on
  // one line, as readers take it line by line.
  return PrintableJson(row.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// The word that scripts compare: the reason, or the code where there is none.
ErrorRow ErrorRowOf(const Error& error, int exit) {
  return {.reason = error.reason.empty() ? std::string(ErrorCodeName(error.code)) : error.reason,
          .message = error.context,
          .exit = exit};
}

Json JsonOf(const ErrorRow& row) {
  const bool limited = !row.limit.empty();
  // Every key is always there, null if it says nothing: a reader needs no test for presence, and
  // the order of keys is that of the documentation.
  return {{"v", 1},
          {"type", "error"},
          {"reason", row.reason},
          {"message", row.message},
          {"limit", TextOrNull(row.limit)},
          {"max", limited ? JsonCount(row.max) : Json()},
          {"actual", limited ? JsonCount(row.actual) : Json()},
          {"retry_after_ms", row.retry_after_ms == 0 ? Json() : Json(row.retry_after_ms)},
          {"trace_id", TextOrNull(row.trace_id)},
          {"help", TextOrNull(row.help)},
          {"exit", row.exit}};
}

Json JsonOf(const ResultRow& row) {
  // An object also if there is no count, so that a reader can index it.
  Json counts = Json::object();
  for (const auto& [name, value] : row.counts) {
    counts[name] = JsonCount(value);
  }
  return {{"v", 1},
          {"type", "result"},
          {"verb", row.verb},
          {"ok", row.exit == 0},
          {"counts", counts},
          {"seconds", row.seconds},
          {"trace_id", TextOrNull(row.trace_id)},
          {"exit", row.exit}};
}

}  // namespace kiln
