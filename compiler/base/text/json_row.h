// SPDX-License-Identifier: MIT
// Lines of --json that both kiln and kilnd print: how a line is written, and the rows that every
// verb of either has. See spec/cli 7.1, docs/schema
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "compiler/base/result.h"

namespace kiln {

// A number; above 2^53, where readers lose digits, its decimal text.
nlohmann::ordered_json JsonCount(uint64_t count);

// One line without its end. What is no UTF-8 in it is replaced, controls are escaped.
std::string JsonLine(const nlohmann::ordered_json& row);

// An operation failed.
struct ErrorRow {
  std::string reason;
  std::string message;
  std::string limit = {};  // empty: none was met, and neither number is shown
  uint64_t max = 0, actual = 0;
  uint32_t retry_after_ms = 0;  // 0: repeating is of no use
  std::string trace_id = {};
  std::string help = {};
  int exit = 0;
};
// What the error itself knows.
ErrorRow ErrorRowOf(const Error& error, int exit);
nlohmann::ordered_json JsonOf(const ErrorRow& row);

// The last line of a verb.
struct ResultRow {
  std::string verb;
  std::span<const std::pair<std::string, uint64_t>> counts = {};
  double seconds = 0;
  std::string trace_id = {};
  int exit = 0;
};
nlohmann::ordered_json JsonOf(const ResultRow& row);

}  // namespace kiln
