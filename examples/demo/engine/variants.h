// SPDX-License-Identifier: MIT
// Where the engine gets its shaders: variants by program and option values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <variant>

#include "compiler/artifact/metadata.h"
#include "runtime/pipeline/artifact_source.h"

namespace kiln::demo {

// Of exactly the declared type: flag, uint, sint, enum.
using OptionValue = std::variant<bool, uint32_t, int32_t, std::string>;

struct VariantRequest {
  std::string program;  // of kiln.toml
  std::map<std::string, OptionValue> options;

  friend bool operator==(const VariantRequest&, const VariantRequest&) = default;
  friend bool operator<(const VariantRequest& a, const VariantRequest& b) {
    return std::tie(a.program, a.options) < std::tie(b.program, b.options);
  }
};

// What a pipeline of the variant is made from.
struct VariantCode {
  artifact::PipelineMetadata metadata;
  runtime::SourceArtifact artifact;
  std::shared_ptr<const runtime::ArtifactSource> source;
};

class VariantSource {
 public:
  virtual ~VariantSource() = default;
  // Errors: kNotFound if there is no such variant; kCorrupt if its files are damaged.
  virtual Result<VariantCode> Get(const VariantRequest& request) = 0;
};

// The variant of a source of the runtime. Errors: those of the source; METADATA_….
Result<VariantCode> FindIn(const std::shared_ptr<const runtime::ArtifactSource>& source,
                           const VariantRequest& request);

// "true", "4", "-3", "height"
std::string OptionText(const OptionValue& value);

// Name of a variant as a folder: the program with dots for slashes, and the hash of its options.
std::string VariantFolder(const VariantRequest& request);

// Variants of a pack: the file that a game ships.
class PackVariants final : public VariantSource {
 public:
  // Errors: PACK_…, kNotFound.
  static Result<PackVariants> Open(const std::string& path);
  Result<VariantCode> Get(const VariantRequest& request) override;

 private:
  explicit PackVariants(std::shared_ptr<const runtime::ArtifactSource> source)
      : source_(std::move(source)) {}
  std::shared_ptr<const runtime::ArtifactSource> source_;
};

// Variants in folders: FOLDER/<VariantFolder>/{vertex,fragment}.spv and metadata.json or
// metadata.bin.
class VariantFolders final : public VariantSource {
 public:
  explicit VariantFolders(std::string folder) : folder_(std::move(folder)) {}
  Result<VariantCode> Get(const VariantRequest& request) override;

 private:
  std::string folder_;
};

}  // namespace kiln::demo
