// SPDX-License-Identifier: MIT
// From the path of a source to the programs that use it, so that a push costs what it names and not
// what there is (spec/daemon 8.3.8). Sizes are kept to bound the sum of all sources.
#include "server/reload/source_index.h"

namespace kiln::reload {
namespace {

constexpr uint64_t kMaxSources = 20'000;  // of a manifest (spec/daemon 10)
constexpr uint64_t kMaxSourceBytes = uint64_t{512} << 20;

}  // namespace

Error AboveLimit(const char* limit, uint64_t max, uint64_t actual) {
  return {.code = ErrorCode::kResourceExhausted,
          .context = std::string(limit) + ": " + std::to_string(actual) + " exceeds the limit of " +
                     std::to_string(max),
          .reason = "LIMIT_EXCEEDED"};
}

// A source of several programs counts once, with the size that the last of them says.
SourceIndex::SourceIndex(std::span<const WatchedProgram> programs) {
  for (const WatchedProgram& program : programs) {
    const std::vector<compile::Source>& sources = program.program.program.sources;
    for (size_t i = 0; i < sources.size(); ++i) {
      // Differences of unsigned numbers: what is subtracted was added before.
      Entry& entry = entries_[sources[i].path];
      bytes_ += sources[i].digest.size - entry.size;
      entry.size = sources[i].digest.size;
      entry.uses.push_back({.program = program.program.program.name, .at = i});
    }
  }
}

std::span<const SourceIndex::Use> SourceIndex::UsesOf(const std::string& path) const {
  const auto found = entries_.find(path);
  return found == entries_.end() ? std::span<const Use>() : std::span(found->second.uses);
}

void SourceIndex::Resize(const std::string& path, uint64_t size) {
  if (const auto found = entries_.find(path); found != entries_.end()) {
    bytes_ += size - found->second.size;
    found->second.size = size;
  }
}

// Before anything changes. What is removed stays counted until it is replaced, since a removed
// source may come back.
Result<void> SourceIndex::CheckSize(std::span<const compile::Source> changed,
                                    std::span<const std::string> removed) const {
  std::map<std::string_view, uint64_t> named;
  for (const std::string& path : removed) {
    named[path] = 0;
  }
  for (const compile::Source& source : changed) {
    named[source.path] = source.digest.size;
  }
  uint64_t files = entries_.size();
  uint64_t bytes = bytes_;
  for (const auto& [path, size] : named) {
    const auto known = entries_.find(std::string(path));
    files += known == entries_.end() ? 1 : 0;
    if (size != 0) {
      bytes += size - (known == entries_.end() ? 0 : known->second.size);
    }
  }
  if (files > kMaxSources) {
    return AboveLimit("files of a manifest", kMaxSources, files);
  }
  return bytes > kMaxSourceBytes
             ? Result<void>(AboveLimit("source set of a manifest", kMaxSourceBytes, bytes))
             : Result<void>();
}

}  // namespace kiln::reload
