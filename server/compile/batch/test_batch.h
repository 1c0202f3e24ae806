// SPDX-License-Identifier: MIT
// Requests of batches for tests: one program, from a text.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "server/compile/batch/batch_request.h"

namespace kiln::compile {

// A program of one source, NAME.rpl, for a target of which metadata is built and no code.
inline void FromText(BatchProgram& program, const std::string& name, const std::string& text,
                     const std::string& target) {
  program.program.name = name;
  program.program.sources.push_back({.path = name + ".rpl",
                                     .digest = DigestOf(text),
                                     .text = std::make_shared<const std::string>(text)});
  program.targets.push_back({.name = target,
                             .target = target::MakeTarget(target::Environment::kVulkan11),
                             .metadata_only = true});
}

// A batch of one program.
inline BatchRequest BatchOf(BatchProgram program) {
  BatchRequest request;
  request.project = "test";
  request.programs.push_back(std::move(program));
  return request;
}

}  // namespace kiln::compile
