// SPDX-License-Identifier: MIT
// Which programs of a watch session read a source, and how large all sources are: a push costs what
// it names, however many programs there are. See spec/daemon 8.3, 10
//
// Threads: none of its own; whoever owns it has a lock.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "server/reload/watched.h"

namespace kiln::reload {

class SourceIndex {
 public:
  // One mention of a source: the program, and the place among its sources.
  struct Use {
    std::string program;
    size_t at = 0;
  };

  SourceIndex() = default;
  explicit SourceIndex(std::span<const WatchedProgram> programs);

  // Empty if nobody reads it.
  std::span<const Use> UsesOf(const std::string& path) const;
  // The size is of what the path holds now. Does nothing for a path that nobody reads.
  void Resize(const std::string& path, uint64_t size);

  // Would what is there be within the limits of a manifest beside this change? Paths that the
  // change names count, removed ones too, whether somebody reads them or not. Errors:
  // kResourceExhausted, LIMIT_EXCEEDED.
  Result<void> CheckSize(std::span<const compile::Source> changed,
                         std::span<const std::string> removed) const;

 private:
  struct Entry {
    uint64_t size = 0;
    std::vector<Use> uses;
  };
  std::map<std::string, Entry> entries_;  // by path
  uint64_t bytes_ = 0;
};

}  // namespace kiln::reload
