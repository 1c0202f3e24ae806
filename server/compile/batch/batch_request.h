// SPDX-License-Identifier: MIT
// What a batch is asked for, as plain values: programs with their spaces, and limits. See
// spec/daemon 6, 7.1
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/compile/batch/batch_points.h"
#include "server/compile/request.h"
#include "server/project/space.h"

namespace kiln::compile {

// Limits of a batch; 0: none.
struct BatchBudget {
  uint64_t results = kMaxResults;  // distinct ones of one program
  uint64_t variants = 0;           // allowed ones of one program
  uint64_t cpu_us = 0;             // of all compiling
  uint64_t output = 0;             // bytes of distinct code and metadata
};

struct BatchProgram {
  ProgramRequest program;
  project::SpaceRequest space;
  std::vector<NamedTarget> targets;
  uint64_t results = 0, variants = 0;  // instead of the batch's, unless 0
  uint32_t priority = 0;               // 0 to 9: those with a higher one are built first
  std::string family;                  // programs of one obey the family rule; or empty
};

enum class OnError : uint8_t { kContinue, kStopProgram, kStop };

struct BatchRequest {
  std::string project;
  std::vector<BatchProgram> programs;
  OnError on_error = OnError::kContinue;
  bool retry_failed = false;
  BatchBudget budget;
  uint64_t explore = 0;  // distinct results of a program to discover beyond its budget; 0: none
  std::string pin;       // not empty: keeps the results when the batch is done
  uint32_t priority = 0;
  // A result counts as stored only when an upstream has it as well (spec/cache 7.2).
  bool quorum = false;
};

}  // namespace kiln::compile
