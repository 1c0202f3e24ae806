// SPDX-License-Identifier: MIT
// The daemon between its queue and its file, in process and with one worker: the stores that
// server/daemon.cc composes over a durable SQLite file, and what builds batches into them. What is
// put can be recorded, and put again without building anything.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cache/pack/write/writer.h"
#include "cache/store.h"
#include "compiler/base/clock.h"
#include "server/compile/batch/batch.h"

namespace kiln::bench {

// The puts of a run, in order.
struct RecordedPut {
  std::vector<cache::Item> items;
  cache::Durability durability = cache::Durability::kRelaxed;
};
using Recording = std::vector<RecordedPut>;

// Content and rows are left out where they were put before.
Recording WithoutRepetition(const Recording& recording);

struct EngineCounts {
  uint64_t parsed = 0;
  uint64_t linked = 0;
  uint64_t regions_lowered = 0;
  uint64_t modules_written = 0;

  EngineCounts operator-(const EngineCounts& before) const {
    return {.parsed = parsed - before.parsed,
            .linked = linked - before.linked,
            .regions_lowered = regions_lowered - before.regions_lowered,
            .modules_written = modules_written - before.modules_written};
  }
};

class DurableEngine {
 public:
  // Opens or makes the store of a directory. `recording` may be null; else it gets every put.
  DurableEngine(const std::filesystem::path& dir, Recording* recording);
  ~DurableEngine();
  DurableEngine(const DurableEngine&) = delete;
  DurableEngine& operator=(const DurableEngine&) = delete;

  // Builds or finds everything; returns when all of it is on disk.
  compile::BatchProgress Build(const compile::BatchRequest& request);
  // A pack of all results of a batch. Errors: those of planning and writing it.
  Result<pack::WriteReport> Pack(const compile::BatchRequest& request,
                                 const pack::WriteOptions& options, const std::string& path);
  // Puts what was recorded; returns when all of it is on disk.
  void Put(const Recording& recording);

  EngineCounts counts() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace kiln::bench
