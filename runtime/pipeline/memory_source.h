// SPDX-License-Identifier: MIT
// Results of kiln in memory: what a daemon streams at start-up, or what an engine has anyway. May
// grow while pipelines are built from it. See spec/pso 9.6
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
  // `options`: all options that tell this variant from others of the program, as Find is asked.
  void AddArtifact(const SourceArtifact& artifact, std::span<const OptionSetting> options);
  // A result of a batch: it serves every variant with these values of its live options. Find has
  // to be given all of them, since a result does not tell defaults.
  void AddResult(const SourceArtifact& artifact, std::span<const OptionSetting> live);

  // What does not have to be sent again.
  std::vector<Digest> Have() const;
  bool Has(const Digest& digest) const;

  Result<SourceBytes> Read(const Digest& content) const override;
  Result<SourceArtifact> Find(std::string_view program,
                              std::span<const OptionSetting> options) const override;
  std::vector<WarmItem> WarmList() const override;  // all, in the order in which they came

 private:
  using Options = std::vector<OptionSetting>;  // by name
  struct Less {
    bool operator()(const Options& a, const Options& b) const;
  };
  struct Program {
    std::map<Options, size_t, Less> variants;  // indexes into artifacts_
    std::map<Options, size_t, Less> results;   // by live options; the same
  };

  void Add(const SourceArtifact& artifact, std::span<const OptionSetting> options,
           std::map<Options, size_t, Less> Program::*where);

  mutable Mutex mutex_;
  std::map<Digest, std::shared_ptr<const Bytes>> bytes_ KILN_GUARDED_BY(mutex_);
  std::map<std::string, Program, std::less<>> programs_ KILN_GUARDED_BY(mutex_);
  std::vector<SourceArtifact> artifacts_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::runtime
