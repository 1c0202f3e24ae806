// SPDX-License-Identifier: MIT
// Programs that are prepared for a target, the most recently used first. It saves parsing and
// linking for requests that differ in their options only. One mutex guards it; a search is short.
#include "server/compile/programs/prepared_program_cache.h"

#include <algorithm>

#include "server/compile/cached_build.h"

namespace kiln::compile {
namespace {

// The bytes of a prepared program that stay as long as it does.
// The images are shared with the pool of programs and count in both: a program that is kept here
// keeps them alive after the pool has dropped them.
uint64_t BytesOf(const PreparedProgram& prepared) {
  uint64_t bytes = 0;
  for (const std::shared_ptr<const ParsedSource>& source : prepared.parsed) {
    bytes += source->memory_bytes();
  }
  for (const Source& source : prepared.request.sources) {
    bytes += source.text == nullptr ? 0 : source.text->size();
  }
  return bytes;
}

}  // namespace

std::shared_ptr<const PreparedProgram> PreparedProgramCache::Find(const ProgramRequest& request,
                                                                  const NamedTarget& target,
                                                                  const cache::Call& call) {
  const MutexLock lock(mutex_);
  // Sixty-four entries are compared one by one: requests have no hash, and the first comparison of
  // digests tells nearly all apart.
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.request == request && entry.target == target;
  });
  ++(found == entries_.end() ? misses_ : hits_);
  if (found == entries_.end()) {
    return nullptr;
  }
  // A call that may not write leaves no trace, and the order of use would be one.
  if (call.may_write) {
    entries_.splice(entries_.begin(), entries_, found);
  }
  return found->prepared;
}

void PreparedProgramCache::Keep(const ProgramRequest& request, const NamedTarget& target,
                                const std::shared_ptr<const PreparedProgram>& prepared) {
  const uint64_t bytes = BytesOf(*prepared);
  const MutexLock lock(mutex_);
  // Two that prepare one program at the same time keep the one that came last.
  const auto before = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.request == request && entry.target == target;
  });
  if (before != entries_.end()) {
    bytes_ -= before->bytes;
    entries_.erase(before);
  }
  entries_.push_front({.request = request, .target = target, .prepared = prepared, .bytes = bytes});
  for (Source& source : entries_.front().request.sources) {
    source.text = nullptr;  // the digest says it all
  }
  entries_.front().request.hlsl.files = nullptr;
  bytes_ += bytes;
  while (bytes_ > max_bytes_ || entries_.size() > kMaxPrograms) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
}

void PreparedProgramCache::Clear() {
  const MutexLock lock(mutex_);
  entries_.clear();
  bytes_ = 0;
}

CacheUsage PreparedProgramCache::Usage() {
  const MutexLock lock(mutex_);
  return {.name = "prepared programs",
          .bytes = bytes_,
          .max_bytes = max_bytes_,
          .entries = entries_.size(),
          .max_entries = kMaxPrograms,
          .hits = hits_,
          .misses = misses_};
}

}  // namespace kiln::compile
