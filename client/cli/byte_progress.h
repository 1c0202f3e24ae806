// SPDX-License-Identifier: MIT
// How far something is that takes long and is no batch: a line on stderr at times. Spec: cli §8
//
// Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "client/cli/global.h"

namespace kiln::cli {

class ByteProgress {
 public:
  // `what`: "cache verify". Says nothing with -q, --json and --progress none.
  ByteProgress(const Global& global, std::string what);

  // Bytes of all. A line after a second, then every two.
  void operator()(uint64_t done, uint64_t total);

 private:
  const std::string what_;
  const bool silent_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace kiln::cli
