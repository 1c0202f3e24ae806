// SPDX-License-Identifier: MIT
// What a source client of a watch session says. See spec/daemon 8.3
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/base/result.h"
#include "server/compile/batch/batch.h"

namespace kiln::reload {

// A program of the source client. Equal shape: equal in everything but its sources.
struct WatchedProgram {
  compile::BatchProgram program;
  Hash128 shape;
};

// What changed; one push is one generation.
struct PushedChange {
  std::vector<compile::Source> changed;
  std::vector<std::string> removed;                     // paths
  std::optional<std::vector<WatchedProgram>> programs;  // all of them
};

// The error of a limit of a manifest (spec/daemon 10): kResourceExhausted, LIMIT_EXCEEDED.
Error AboveLimit(const char* limit, uint64_t max, uint64_t actual);

}  // namespace kiln::reload
