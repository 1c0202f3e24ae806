// SPDX-License-Identifier: MIT
// Results of kiln in a pack file: found by program and option values, read when they are needed.
// See spec/pso 9.1 to 9.4, spec/cache 10
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cache/pack/reader.h"
#include "runtime/pipeline/artifact_source.h"

namespace kiln::runtime {

struct PackSourceConfig {
  std::string target;  // of the entries; empty: the first one of each program
  VkFormat swapchain_format = VK_FORMAT_B8G8R8A8_UNORM;  // what "swapchain" stands for in passes
};

// Safe from any thread.
class PackSource final : public ArtifactSource {
 public:
  PackSource(std::shared_ptr<const pack::Pack> pack, PackSourceConfig config)
      : pack_(std::move(pack)), config_(std::move(config)) {}

  Result<SourceBytes> Read(const Digest& content) const override;
  Result<SourceArtifact> Find(std::string_view program,
                              std::span<const OptionSetting> options) const override;
  // The rows of WARM; without them every pipeline, with the pass that its program is named after,
  // or with each pass of the pack if there is none of that name.
  std::vector<WarmItem> WarmList() const override;

  // By name, as PASS has them.
  std::map<std::string, PassSignature> Passes() const;

 private:
  Result<uint32_t> FindEntry(std::string_view program) const;
  SourceArtifact ArtifactOf(uint32_t row) const;
  PassSignature SignatureOf(const pack::PassRow& row) const;
  WarmItem WarmOf(const pack::WarmRow& row) const;

  std::shared_ptr<const pack::Pack> pack_;
  PackSourceConfig config_;
};

}  // namespace kiln::runtime
