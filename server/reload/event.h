// SPDX-License-Identifier: MIT
// What a watch session tells its subscribers, as plain values. See spec/daemon 8.3
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "server/compile/batch/merged_failures.h"
#include "server/compile/request.h"

namespace kiln::reload {

using Options = std::vector<resolve::OptionSetting>;
using OptionsPtr = std::shared_ptr<const Options>;

// What is different, and so what an engine has to do.
struct Change {
  bool code = false;      // swap modules
  bool settings = false;  // new pipeline, same layout
  bool layout = false;    // new descriptor layouts
  bool any() const { return code || settings || layout; }
};

struct SessionOpened {
  uint64_t epoch = 0;
  std::vector<std::string> programs;
  bool source_present = false;
  bool resumed = false;
};
struct SourcesChanged {
  uint64_t generation = 0;
  std::vector<std::string> paths, programs;
};
struct NewArtifact {
  uint64_t generation = 0;
  std::string program;
  std::string variant;  // names the options
  OptionsPtr options;
  std::shared_ptr<const compile::Artifact> artifact;
  Change change;
};
// The numbers of the wire.
enum class Reason : uint8_t { kIrIdentical = 1, kCodeIdentical = 2, kNotReachable = 3 };
struct ProgramUnchanged {
  uint64_t generation = 0;
  std::string program;
  Reason reason = Reason::kIrIdentical;
};
// What is wrong with a program: each message once, with the variants that have it.
using DiagnosticsPtr = std::shared_ptr<const std::vector<compile::MergedFailure>>;
struct Diagnostics {
  uint64_t generation = 0;
  std::string program;
  DiagnosticsPtr all;  // errors first; empty: cleared
};
struct ProgramsSettled {
  uint64_t generation = 0;
  uint64_t ms = 0;
  uint64_t compiled = 0, shared = 0, failed = 0;
};
struct Snapshot {
  bool begin = false;  // else end
};
struct Problem {
  std::string text;
  std::string code;
};

using EventBody = std::variant<SessionOpened, SourcesChanged, NewArtifact, ProgramUnchanged,
                               Diagnostics, ProgramsSettled, Snapshot, Problem>;

struct Event {
  uint64_t seq = 0;
  bool conflated = false;  // events before this one were replaced by newer ones
  EventBody body;
};

}  // namespace kiln::reload
