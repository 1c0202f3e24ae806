// SPDX-License-Identifier: MIT
// Pipeline state objects, built from metadata and SPIR-V words alone, before they are drawn with.
// Equal pipelines are built once; one that cannot be had on this device, that the driver refuses or
// that kills it costs itself and nothing else. See spec/pso 4, 7
//
//   auto pipelines = Pipelines::Create(device, {.cache_folder = DefaultCacheFolder()});
//   (*pipelines)->Load(std::make_shared<PackSource>(pack, {}));
//   const PipelineId rock = *(*pipelines)->Find("rock/forward", options, signature);
//   (*pipelines)->Wait((*pipelines)->Warm({}), minute);              // before the first frame
//   … Bind(commands, rock, OnMissing::Skip()) … EndFrame(value) …    // in every frame
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "runtime/pipeline/artifact_source.h"
#include "runtime/pipeline/child_builds.h"
#include "runtime/pipeline/pipeline_desc.h"
#include "runtime/pipeline/pipeline_layouts.h"
#include "runtime/pipeline/pipeline_report.h"
#include "runtime/vk/device.h"

namespace kiln::runtime {

class CacheFiles;

// Stable for the life of Pipelines, also across reload.
struct PipelineId {
  uint32_t index = ~0U;
  friend bool operator==(PipelineId, PipelineId) = default;
};

// A SPIR-V module: of one stage, or of all (no stage).
struct ModuleWords {
  std::optional<artifact::Stage> stage;
  std::span<const uint32_t> words;
};

// Whether warm-up draws are made. See spec/pso 7.5.2
enum class FirstUse : uint8_t { kAuto, kOn, kOff };

// Whether metadata is compared with SPIR-V words and layout hashes with layouts (debug_checks.h).
enum class DebugChecks : uint8_t { kOff, kOn };

struct PipelinesConfig {
  static constexpr uint32_t kAllCores = ~0U;  // but one

  uint32_t threads = kAllCores;  // 0: the thread that waits builds
  uint64_t budget_bytes = uint64_t{512} << 20;
  std::string cache_folder;     // of driver caches and journals; empty: nothing is kept
  CacheFiles* files = nullptr;  // null: the file system
  LogSink* log = nullptr;       // null: silence
  Clock* clock = nullptr;       // of the saves of the driver cache; null: the system's
  FirstUse first_use = FirstUse::kAuto;
  Duration hitch = std::chrono::milliseconds(1);
  Duration first_use_timeout = std::chrono::seconds(5);
  bool link_fast = false;  // where the device can
  DebugChecks debug_checks = DebugChecks::kOff;
  StartChild start_child;  // for WarmRequest::isolate; null: the program kiln_pipeline_child
  Duration isolate_timeout = std::chrono::seconds(30);  // of one pipeline in a child
};

// What to do with a draw whose pipeline is not ready.
struct OnMissing {
  enum class MissingAction : uint8_t { kSkip, kFallback, kBlock };
  static OnMissing Skip() { return {MissingAction::kSkip, {}}; }
  static OnMissing Fallback(PipelineId id) { return {MissingAction::kFallback, id}; }
  static OnMissing Block() { return {MissingAction::kBlock, {}}; }

  MissingAction what = MissingAction::kSkip;
  PipelineId fallback;
};

struct BindResult {
  bool drawable = false;  // something is bound
  PipelineId id;          // what
};

struct WarmRequest {
  std::vector<PipelineId> pipelines;  // none: all that are queued
  std::optional<Lane> lane;           // nullopt: the one that its source gave it
  // Everything is made in child processes first: what crashes or hangs one of them is quarantined,
  // the rest is then built here, with a warm driver cache. See spec/pso 7.8
  bool isolate = false;
};
struct WarmTicket {
  uint32_t index = ~0U;
};

struct PipelinesState;

// Threads. Get, State, Layouts, Desc, ErrorOf and Bind: any thread, no lock and no allocation for
// what is ready; not while EndFrame runs. Add, Load, Find, Replace, Warm, Progress, Cancel, Stats:
// any thread. Wait, EndFrame, Collect: the thread that draws, since they submit to the queue.
// The device outlives it and does not move; whoever destroys it has waited for the device.
class Pipelines {
 public:
  // Builds in Add, on the calling thread, and keeps no cache: for tools and tests.
  explicit Pipelines(const Device& device, DebugChecks checks = DebugChecks::kOff);
  // Errors: OUT_OF_MEMORY, DEVICE_LOST. A cache that cannot be used is a line of the log.
  static Result<std::unique_ptr<Pipelines>> Create(const Device& device,
                                                   const PipelinesConfig& config);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  // Registers a pipeline; `name` is for messages. Words are copied. What the device cannot have has
  // an id, too; State and ErrorOf tell. What is odd about one is a line of the log (LintsOf).
  // Errors: METADATA_INCOMPLETE, METADATA_INVALID, SIGNATURE_MISMATCH; an entry point without
  // words.
  Result<PipelineId> Add(std::string_view name, const PipelineMetadata& metadata,
                         std::span<const ModuleWords> modules, const PassSignature& signature);
  // The same, with words that are read when they are needed. No signature: that of spec/pso 5.3.
  Result<PipelineId> Add(const SourceArtifact& artifact,
                         std::shared_ptr<const ArtifactSource> source,
                         const std::optional<PassSignature>& signature,
                         std::span<const ImageHint> hints = {}, Lane lane = Lane::kSoon);

  // Makes a source known to Find; Load also registers what it wants built before the first frame,
  // in its order. Neither builds anything. What does not fit is in the report.
  void AddSource(std::shared_ptr<const ArtifactSource> source);
  LoadReport Load(std::shared_ptr<const ArtifactSource> source);
  // Of the sources that were loaded, the last one first. Not for the frame: it looks by name.
  // Errors: those of the source and of Add.
  Result<PipelineId> Find(std::string_view program, std::span<const OptionSetting> options,
                          const PassSignature& signature);

  // Null unless ready. Requires: an id of this object, here and below.
  VkPipeline Get(PipelineId id) const noexcept;
  PipelineState State(PipelineId id) const noexcept;
  // Valid until a replacement of the id has been collected.
  const LayoutSet& Layouts(PipelineId id) const noexcept;
  const PipelineDesc& Desc(PipelineId id) const noexcept;
  // Why it is not ready, or why the last replacement was not taken; nullptr if all is well.
  const Error* ErrorOf(PipelineId id) const noexcept;

  // Binds it. What is not ready is raised to the critical lane, and counts as a hitch.
  BindResult Bind(VkCommandBuffer commands, PipelineId id, OnMissing missing);
  // The same in a pass whose formats are known: a pipeline for others is refused, which is a line
  // of the log with both. For debugging. See spec/pso 5.5
  BindResult Bind(VkCommandBuffer commands, PipelineId id, OnMissing missing,
                  const PassSignature& pass);

  WarmTicket Warm(const WarmRequest& request);
  WarmProgress Progress(WarmTicket ticket) const;
  // Makes warm-up draws, and builds if there are no threads, until all is done. One broken pipeline
  // is in the report. Errors: kDeadlineExceeded; DEVICE_LOST.
  Result<WarmReport> Wait(WarmTicket ticket, Duration timeout);
  // What is built stays; what is not stays queued.
  void Cancel(WarmTicket ticket);

  // Hot swap: builds beside the old pipeline and swaps at an EndFrame. Equal layouts: descriptor
  // sets stay valid; else Layouts(id).generation grows with the swap. A replacement that fails
  // keeps the old pipeline, and ErrorOf says why. Errors: as Add.
  Result<void> Replace(PipelineId id, const PipelineMetadata& metadata,
                       std::span<const ModuleWords> modules);
  Result<void> Replace(PipelineId id, const SourceArtifact& artifact,
                       std::shared_ptr<const ArtifactSource> source);

  // After the last submission of a frame, which signals `frame_value`: swaps what is ready and
  // retires what it replaced. Collect destroys what the device has passed.
  void EndFrame(uint64_t frame_value);
  void Collect(uint64_t completed_value);

  // Modules are shared by content while pipelines are built; this drops them.
  void ReleaseModules();
  // Writes the driver's cache; done by itself after a warm start, by a thread every 60 s while it
  // changes, and at the end. Not on a thread that draws.
  Result<void> SaveCache();

  PipelineStats Stats() const;
  std::vector<Hitch> Hitches() const;  // in order
  void ForgetHitches();                // of the start, before the first frame
  std::vector<PipelineTimes> Times() const;
  // What was drawn with so far and can be found by name, in the order of the first draws: lines of
  // JSON for kiln pack build --warm. See spec/pso 9.3
  std::string WriteWarmList() const;
  // Counts and times as Prometheus reads them, names kiln_runtime_*. See spec/pso 13.1
  std::string PrintMetrics() const;

  PipelinesState& state() { return *state_; }  // of other files of this folder

 private:
  Pipelines(const Device& device, const PipelinesConfig& config);

  std::unique_ptr<PipelinesState> state_;
};

// The viewport of the whole area as metadata's viewport_y wants it, and a scissor of the same area.
void SetViewportFor(const vk::Table& table, VkCommandBuffer commands, const PipelineDesc& desc,
                    VkExtent2D area);

}  // namespace kiln::runtime
