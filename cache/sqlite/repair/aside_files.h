// SPDX-License-Identifier: MIT
// The files of a store's directory that were set aside: damaged ones and those of other versions.
// They count against the limit of the store and go before its rows do. See spec/cache 6.9
//
// Threads: safe from any thread; bytes() never looks at the disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>

#include "compiler/base/log.h"

namespace kiln::cache::sqlite {

class AsideFiles {
 public:
  // Requires: log outlives this.
  explicit AsideFiles(LogSink& log) : log_(log) {}

  // As of the last Measure or MakeRoom.
  uint64_t bytes() const { return bytes_; }
  void Measure(const std::filesystem::path& dir);
  // Removes files, the oldest first: damaged ones until they and the used bytes fit into the
  // target, those of other versions until they leave half of it to the database.
  void MakeRoom(const std::filesystem::path& dir, uint64_t used_bytes, uint64_t target_bytes);

 private:
  LogSink& log_;
  std::atomic<uint64_t> bytes_{0};
};

}  // namespace kiln::cache::sqlite
