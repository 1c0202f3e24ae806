// SPDX-License-Identifier: MIT
// Pipelines are made in a child process before they are made here: a driver that crashes or hangs
// takes the child along, and costs one pipeline. What the child leaves behind is a warm driver
// cache. See spec/pso 7.8
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/clock.h"
#include "runtime/pipeline/artifact_source.h"
#include "runtime/pipeline/pipeline_desc.h"
#include "runtime/pipeline/pipeline_report.h"

namespace kiln::runtime {

struct PipelinesConfig;

// A process that serves builds over its end of a socket pair.
struct ChildProcess {
  int pid = 0;
  int socket = -1;  // the end of this process
};
// Given the folder where the child keeps its driver cache; empty: nowhere.
using StartChild = std::function<Result<ChildProcess>(const std::string& cache_folder)>;

// The program kiln_pipeline_child, beside this program or as PATH finds it, on the same device.
// Errors: kUnavailable if it cannot be run.
StartChild SpawnPipelineChild(const Device& device);

// What a child is given for one pipeline.
struct ChildJob {
  PipelineDesc desc;
  std::vector<std::optional<artifact::Stage>> stages;  // of the modules
  std::vector<std::span<const uint32_t>> words;        // the same
  std::vector<ImageHint> hints;
};

// One child after the other. One thread.
class ChildBuilds {
 public:
  struct Config {
    StartChild start;
    std::string cache_folder;       // of the children; or empty
    Duration timeout = {};          // of one pipeline
    std::function<bool()> stopped;  // asked while it waits; then Try is kCancelled
  };
  enum class Fate : uint8_t { kLived, kDied, kHung };

  explicit ChildBuilds(Config config) : config_(std::move(config)) {}
  ~ChildBuilds() { Kill(); }
  ChildBuilds(const ChildBuilds&) = delete;
  ChildBuilds& operator=(const ChildBuilds&) = delete;

  // What became of the child that made it; the next pipeline gets another one if that is needed.
  // Errors: kUnavailable if no child can be started; kCancelled.
  Result<Fate> Try(const ChildJob& job);
  // The child saves its driver cache and ends.
  void End();

  uint32_t children() const { return children_; }

 private:
  Result<void> Start();
  void Kill();
  // Errors: kCancelled.
  Result<Fate> Await();

  const Config config_;
  ChildProcess child_;
  uint32_t children_ = 0;
};

// The other end: makes what comes until the parent ends. Returns the exit status.
int ServeChildBuilds(int socket, const Device& device, const PipelinesConfig& config);

}  // namespace kiln::runtime
