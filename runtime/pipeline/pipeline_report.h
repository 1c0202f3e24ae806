// SPDX-License-Identifier: MIT
// What pipelines tell about themselves: states, progress of a warm start, hitches, counts. Plain
// data. See spec/pso 7, 13
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/digest.h"

namespace kiln::runtime {

enum class PipelineState : uint8_t {
  kQueued,       // known, not built
  kBuilding,     // a thread is at it
  kReady,        // optimised
  kReadyFast,    // linked from libraries; the optimised one follows
  kFailed,       // the driver refused
  kUnsupported,  // the device cannot have it
  kQuarantined,  // a run of this program died while it was built
};

std::string_view NameOf(PipelineState state);  // "ready"

// No more work will change it by itself.
constexpr bool IsFinal(PipelineState state) {
  return state != PipelineState::kQueued && state != PipelineState::kBuilding;
}
constexpr bool IsReady(PipelineState state) {
  return state == PipelineState::kReady || state == PipelineState::kReadyFast;
}

enum class HitchKind : uint8_t {
  kCreation,  // built by a thread that draws
  kFirstUse,  // first draw of what was never drawn, where the driver compiles then
  kMissing,   // not ready: nothing was drawn, or something else
};
std::string_view NameOf(HitchKind kind);

// What a driver says about a creation; durations are zero if it says nothing.
struct StageFeedback {
  bool valid = false;
  bool cache_hit = false;
  Duration duration = {};
};
struct CreationFeedback {
  bool valid = false;
  bool cache_hit = false;          // in the cache that it was given
  bool base_acceleration = false;  // kiln gives no base
  Duration duration = {};
  std::array<StageFeedback, 2> stages = {};  // in their order; the rest is not valid
};

// Why a pipeline was built when it was.
enum class BuildSource : uint8_t {
  kPack,    // before it was drawn with: a warm start, whatever the artifact came from
  kReload,  // to replace another one
  kDemand,  // because a draw asked for it
};
std::string_view NameOf(BuildSource source);

// A draw that waited, or would have compiled. After a warm start each is a bug.
struct Hitch {
  HitchKind kind = HitchKind::kMissing;
  std::string name;  // of the program
  Hash128 key;
  Duration duration = {};  // as far as it was measured
  uint64_t frame = 0;
};

struct WarmProgress {
  size_t total = 0;
  size_t done = 0;  // ready, failed, unsupported or quarantined
  size_t from_cache = 0;
  size_t failed = 0;
  size_t unsupported = 0;
  size_t quarantined = 0;
  size_t first_uses = 0;
  Duration elapsed = {};
  Duration eta = {};    // zero until something is done
  std::string current;  // name of what is being built
};

// A pipeline that is not ready, and why.
struct WarmFailure {
  std::string name;
  Hash128 key;
  PipelineState state = PipelineState::kFailed;
  std::string error;
};

struct WarmReport {
  WarmProgress progress;
  std::vector<WarmFailure> failures;
  Duration creation = {};   // sum over all threads
  Duration first_use = {};  // sum
};

struct LoadReport {
  size_t listed = 0;                 // what the source wants built before the first frame
  size_t registered = 0;             // of these
  size_t unsupported = 0;            // of these: skipped, the device cannot
  std::vector<WarmFailure> refused;  // no pipeline at all: wrong metadata, damaged content
};

struct PipelineStats {
  size_t added = 0;  // ids given
  size_t ready = 0;  // distinct pipelines, by state
  size_t ready_fast = 0;
  size_t queued = 0;
  size_t failed = 0;
  size_t unsupported = 0;
  size_t quarantined = 0;
  size_t saved = 0;    // ids that share the pipeline of an earlier one
  size_t modules = 0;  // distinct shader modules made
  size_t set_layouts = 0;
  size_t pipeline_layouts = 0;
  size_t libraries = 0;   // parts for fast linking
  size_t cache_hits = 0;  // as the driver says
  size_t replaced = 0;    // swaps
  size_t retired = 0;     // waiting for the device
  size_t hitches = 0;     // creations and first uses on a thread that draws
  size_t missing = 0;
  size_t refused = 0;  // binds in a pass of other formats
  Duration creation = {};
  Duration longest_creation = {};
  Duration first_use = {};
  Duration longest_first_use = {};
};

// One pipeline, for tools.
struct PipelineTimes {
  std::string name;
  Hash128 key;
  PipelineState state = PipelineState::kQueued;
  Duration creation = {};
  Duration first_use = {};
  bool from_cache = false;
  CreationFeedback feedback;
  BuildSource source = BuildSource::kPack;
  uint64_t bound = 0;        // how often
  uint64_t first_frame = 0;  // of the first bind; meaningless if it never was
};

}  // namespace kiln::runtime
