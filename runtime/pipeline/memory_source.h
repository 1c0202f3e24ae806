// SPDX-License-Identifier: MIT
// Results of kiln in memory: what a daemon streams at start-up, or what an engine has anyway. May
// grow while pipelines are built from it. Spec: pso §9.6
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/base/mutex.h"
#include "runtime/pipeline/artifact_source.h"

namespace kiln::runtime {

// Safe from any thread.
class MemorySource final : public ArtifactSource {
 public:
  // Keeps the bytes under their digest; those that are there already cost nothing.
  // Errors: kCorrupt if the digest is another one.
  Result<void> AddBytes(const Digest& digest, Bytes bytes);
  // `options`: all options that tell this variant from others of the program.
  void AddArtifact(const SourceArtifact& artifact, std::span<const OptionSetting> options);

  // What does not have to be sent again.
  std::vector<Digest> Have() const;
  bool Has(const Digest& digest) const;

  Result<SourceBytes> Read(const Digest& content) const override;
  Result<SourceArtifact> Find(std::string_view program,
                              std::span<const OptionSetting> options) const override;
  std::vector<WarmItem> WarmList() const override;  // all, in the order in which they came

 private:
  struct Variant {
    SourceArtifact artifact;
    std::vector<OptionSetting> options;  // by name
  };

  mutable Mutex mutex_;
  std::map<Digest, std::shared_ptr<const Bytes>> bytes_ KILN_GUARDED_BY(mutex_);
  std::vector<Variant> variants_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::runtime
