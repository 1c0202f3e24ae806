// SPDX-License-Identifier: MIT
// One trace for all calls of a process that does one thing, such as a command: the daemon's log,
// its explain records and `kiln status --trace` name it. See spec/daemon 13.4
#pragma once

#include <string>

namespace kiln::client {

// 32 hex digits, random. From now on every call carries it. Call before the first one.
const std::string& BeginTrace();

// What BeginTrace gave; empty: the daemon gives each call a trace of its own.
const std::string& TraceId();

}  // namespace kiln::client
