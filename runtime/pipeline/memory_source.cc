// SPDX-License-Identifier: MIT
#include "runtime/pipeline/memory_source.h"

#include <algorithm>

#include <fmt/format.h>

namespace kiln::runtime {
namespace {

// The name decides, so that two settings of one option would compare as they come.
std::vector<OptionSetting> Sorted(std::span<const OptionSetting> options) {
  std::vector<OptionSetting> sorted(options.begin(), options.end());
  std::ranges::stable_sort(sorted, {}, &OptionSetting::name);
  return sorted;
}

}  // namespace

Result<void> MemorySource::AddBytes(const Digest& digest, Bytes bytes) {
  if (DigestOf(bytes) != digest) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("the bytes that were sent as {} are others", digest.id.hex()), ""};
  }
  const MutexLock lock(mutex_);
  bytes_.try_emplace(digest, std::make_shared<const Bytes>(std::move(bytes)));
  return {};
}

void MemorySource::AddArtifact(const SourceArtifact& artifact,
                               std::span<const OptionSetting> options) {
  Variant variant{artifact, Sorted(options)};
  const MutexLock lock(mutex_);
  const auto same = std::ranges::find_if(variants_, [&](const Variant& other) {
    return other.artifact.program == artifact.program && other.options == variant.options;
  });
  if (same != variants_.end()) {  // a later one replaces it
    *same = std::move(variant);
  } else {
    variants_.push_back(std::move(variant));
  }
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
  return SourceBytes{*found->second, found->second};
}

Result<SourceArtifact> MemorySource::Find(std::string_view program,
                                          std::span<const OptionSetting> options) const {
  const std::vector<OptionSetting> wanted = Sorted(options);
  const MutexLock lock(mutex_);
  for (const Variant& variant : variants_) {
    if (variant.artifact.program == program && variant.options == wanted) {
      return variant.artifact;
    }
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("there is no variant of '{}' with these options", program), ""};
}

std::vector<WarmItem> MemorySource::WarmList() const {
  const MutexLock lock(mutex_);
  std::vector<WarmItem> items;
  for (const Variant& variant : variants_) {
    items.push_back({.artifact = variant.artifact, .signature = {}, .pass = {}, .hints = {}});
  }
  return items;
}

}  // namespace kiln::runtime
