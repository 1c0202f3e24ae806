// SPDX-License-Identifier: MIT
// kilnc compile: sources on disk -> SPIR-V or WGSL modules, metadata or the dump of one stage. No
// daemon.
#pragma once

#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/tool/hlsl_inputs.h"

namespace kiln::tool {

// The arguments of the command, as written.
struct CompileArguments {
  std::vector<std::string> files;    // link order
  std::vector<std::string> entries;  // "vertex=FUNCTION"
  std::string pipeline;              // empty: that of the entry points
  std::vector<std::string> options;  // "NAME=VALUE"
  HlslArguments hlsl;
  std::vector<std::string> limits;  // "NAME=VALUE"
  std::string environment = "vulkan1.1";
  std::string debug = "names";
  std::string form = "spirv";
  bool combined = false;
  std::string out;    // folder; empty: no modules
  std::string meta;   // file; empty: none
  std::string stage;  // of --stage; empty: the whole way
  bool dump = false;  // implied by a stage
  bool json = false;
  bool lints = false;
  bool all_variants = false;  // only report, for every combination of flags and enums
};

// Exit codes of the tool: part of its contract.
enum ExitCode : int {
  kSuccess = 0,
  kWrongSource = 1,  // or wrong option value
  kUsage = 2,
  kNoFile = 3,  // missing, unreadable or not writable
  kNoRoom = 5,  // for what is written or printed
  kInternalError = 70,
};

// Names that --stage accepts, in pipeline order.
const std::vector<std::string>& StageNames();
// The name of today for a stage: "questions", "close" and "pieces" are what "queries", "specialise"
// and "objects" were called in version 0.1, and scripts may have them. Others stay as they are.
std::string StageOf(std::string name);

// Of a file that could not be written: kNoRoom or kNoFile.
ExitCode WriteFailure(const Error& error);

// Runs the command: modules and metadata to files, dumps and JSON to stdout, messages to stderr.
// Returns an ExitCode.
int RunCompile(const CompileArguments& arguments);

}  // namespace kiln::tool
