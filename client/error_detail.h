// SPDX-License-Identifier: MIT
// What a daemon says about an error beyond its code and text. Kept aside from Error, which every
// folder of kiln knows and which needs none of it. See spec/daemon 2.4
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/base/result.h"

namespace kiln::client {

struct ErrorDetail {
  std::string field;  // of the request, dotted
  std::string limit;  // name of the limit that was exceeded; empty: none was
  uint64_t max = 0, actual = 0;
  uint32_t retry_after_ms = 0;  // 0: repeating is of no use
  std::string trace_id;         // of the call
  std::string help;             // what to do, one sentence; the error's text ends with it
};

// Of one of the last errors that came over the wire in this process, from any thread; contexts may
// have been put in front of its text. Nothing for errors that no daemon said.
std::optional<ErrorDetail> DetailOf(const Error& error);

// For the conversion of statuses.
void RememberDetail(const Error& error, ErrorDetail detail);

}  // namespace kiln::client
