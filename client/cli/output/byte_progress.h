// SPDX-License-Identifier: MIT
// Progress of something long that is not a batch: a line on stderr now and then. See spec/cli 8
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>

#include "client/cli/global.h"
#include "compiler/base/clock.h"

namespace kiln::cli {

class ByteProgress {
 public:
  // `what`: "cache verify". Says nothing with -q, --json and --progress none. The clock outlives
  // the object.
  ByteProgress(const Global& global, std::string what, Clock& clock);

  // Bytes of all; of 0: of nobody knows how many. A line after a second, then every two.
  void operator()(uint64_t done, uint64_t total);

 private:
  const std::string what_;
  const bool silent_;
  Clock& clock_;
  Duration next_;
};

}  // namespace kiln::cli
