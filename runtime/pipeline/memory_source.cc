// SPDX-License-Identifier: MIT
#include "runtime/pipeline/memory_source.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace kiln::runtime {
namespace {

// The name decides, so that two settings of one option would compare as they come.
std::vector<OptionSetting> Sorted(std::span<const OptionSetting> options) {
  std::vector<OptionSetting> sorted(options.begin(), options.end());
  std::ranges::stable_sort(sorted, {}, &OptionSetting::name);
  return sorted;
}

// Whether all settings of `part` are in `whole`; both by name.
// Both are sorted by name, so the search goes on from the last hit and passes the whole list once.
bool Includes(const std::vector<OptionSetting>& whole, const std::vector<OptionSetting>& part) {
  auto at = whole.begin();
  return std::ranges::all_of(part, [&](const OptionSetting& setting) {
    at = std::find(at, whole.end(), setting);
    return at != whole.end();
  });
}

}  // namespace

Result<void> MemorySource::AddBytes(const Digest& digest, Bytes bytes) {
  // Bytes are named by their digest everywhere behind this; bytes that do not have it would be
  // built under a wrong key.
  if (DigestOf(bytes) != digest) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("the bytes that were sent as {} are others", digest.id.hex()), ""};
  }
  const MutexLock lock(mutex_);
  // Equal digests are equal bytes, so what is there stays. Readers may hold it.
  bytes_.try_emplace(digest, std::make_shared<const Bytes>(std::move(bytes)));
  return {};
}

bool MemorySource::Less::operator()(const Options& a, const Options& b) const {
  return std::ranges::lexicographical_compare(
      a, b, [](const OptionSetting& left, const OptionSetting& right) {
        return std::tie(left.name, left.value) < std::tie(right.name, right.value);
      });
}

void MemorySource::Add(const SourceArtifact& artifact, std::span<const OptionSetting> options,
                       std::map<Options, size_t, Less> Program::*where) {
  Options sorted = Sorted(options);
  // Sorting is done before the lock is taken, which a reload holds while frames go on.
  const MutexLock lock(mutex_);
  auto& known = programs_[artifact.program].*where;
  const auto [at, is_new] = known.try_emplace(std::move(sorted), artifacts_.size());
  if (is_new) {
    artifacts_.push_back(artifact);
  } else {
    // Its place in the list stays, so the order of a warm start does not depend on replacements.
    artifacts_[at->second] = artifact;  // a later one replaces it
  }
}

void MemorySource::AddArtifact(const SourceArtifact& artifact,
                               std::span<const OptionSetting> options) {
  Add(artifact, options, &Program::variants);
}

void MemorySource::AddResult(const SourceArtifact& artifact, std::span<const OptionSetting> live) {
  Add(artifact, live, &Program::results);
}

std::vector<Digest> MemorySource::Have() const {
  const MutexLock lock(mutex_);
  std::vector<Digest> have;
  have.reserve(bytes_.size());
  for (const auto& [digest, bytes] : bytes_) {
    have.push_back(digest);
  }
  return have;
}

bool MemorySource::Has(const Digest& digest) const {
  const MutexLock lock(mutex_);
  return bytes_.contains(digest);
}

Result<SourceBytes> MemorySource::Read(const Digest& content) const {
  const MutexLock lock(mutex_);
  const auto found = bytes_.find(content);
  if (found == bytes_.end()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("content {} has not been sent", content.id.hex()), ""};
  }
  // The owner goes along: the view stays valid even if the source is dropped.
  return SourceBytes{*found->second, found->second};
}

Result<SourceArtifact> MemorySource::Find(std::string_view program,
                                          std::span<const OptionSetting> options) const {
  const Options wanted = Sorted(options);
  const MutexLock lock(mutex_);
  const auto found = programs_.find(program);
  if (found != programs_.end()) {
    // An exact variant comes first. A result counts for all variants that have its live options, as
    // the other options make no difference to the code.
    const auto variant = found->second.variants.find(wanted);
    size_t index = artifacts_.size();
    if (variant != found->second.variants.end()) {
      index = variant->second;
    } else {
      // Results are few, as they differ only in live options, and so they are searched one by one.
      for (const auto& [live, result] : found->second.results) {
        if (Includes(wanted, live)) {
          index = result;
          break;
        }
      }
    }
    if (index < artifacts_.size()) {
      SourceArtifact artifact = artifacts_[index];
      // The options that were asked for are remembered, and not those of the result, so that a
      // reload asks for the same variant again.
      artifact.options.assign(options.begin(), options.end());
      return artifact;
    }
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("there is no variant of '{}' with these options", program), ""};
}

std::vector<WarmItem> MemorySource::WarmList() const {
  const MutexLock lock(mutex_);
  std::vector<WarmItem> items;
  items.reserve(artifacts_.size());
  for (const SourceArtifact& artifact : artifacts_) {
    // What was sent has no pass: the signature comes from whoever asks.
    items.push_back({.artifact = artifact, .signature = {}, .pass = {}, .hints = {}});
  }
  return items;
}

}  // namespace kiln::runtime
