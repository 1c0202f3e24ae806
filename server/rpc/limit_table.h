// SPDX-License-Identifier: MIT
// Every limit of the daemon with its value, as GetServerInfo shows it: the one list of all three
// classes. See spec/daemon 4.6, 10
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/rpc/reactors/host.h"

namespace kiln::rpc {

struct LimitLine {
  std::string name;
  uint64_t value = 0;  // bytes, milliseconds or a number
  char kind = 'S';     // S service, D deterministic, T time and memory
};

// D: what a source or a result may be; exceeding one is a diagnostic. S: what may be asked for. T:
// what a job may take; exceeding one ends it.
std::vector<LimitLine> LimitTable(const Host& host);

}  // namespace kiln::rpc
