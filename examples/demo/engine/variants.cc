// SPDX-License-Identifier: MIT
// Where the demo gets the code of a variant from: a folder of files, or a pack, or a source that
// was filled by a daemon. All of them end in a VariantCode.
#include "examples/demo/engine/variants.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "compiler/artifact/metadata_json.h"
#include "runtime/pipeline/memory_source.h"
#include "runtime/pipeline/pack_source.h"

namespace kiln::demo {
namespace {

constexpr size_t kMaxFile = size_t{64} << 20;

// nullopt if there is no such file, which is no error: of two forms of a file one is there.
Result<std::optional<std::string>> ReadFile(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return std::optional<std::string>();
  }
  if (std::filesystem::file_size(path, error) > kMaxFile || error) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{} is no file of at most {} bytes", path.string(), kMaxFile), ""};
  }
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    return Error{ErrorCode::kUnavailable, fmt::format("cannot read {}", path.string()), ""};
  }
  return std::optional<std::string>(std::move(text));
}

// JSON is looked for first, since a person may have written it.
Result<Bytes> ReadMetadata(const std::filesystem::path& folder) {
  KILN_TRY(const auto json, ReadFile(folder / "metadata.json"));
  if (json) {
    return artifact::MetadataFromJson(*json);
  }
  KILN_TRY(const auto binary, ReadFile(folder / "metadata.bin"));
  if (!binary) {
    return Error{ErrorCode::kNotFound, fmt::format("there is no variant in {}", folder.string()),
                 ""};
  }
  const ByteView bytes = AsBytes(*binary);
  return Bytes(bytes.begin(), bytes.end());
}

}  // namespace

// As the name of the folder has it, so the spelling must never change.
std::string OptionText(const OptionValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>) {
          return v;
        } else {
          return fmt::format("{}", v);
        }
      },
      value);
}

std::string VariantFolder(const VariantRequest& request) {
  // The options are sorted by name, so equal requests have equal folders. The hash keeps the name
  // short whatever they are.
  std::string options;
  for (const auto& [name, value] : request.options) {
    options += fmt::format("{}={}\n", name, OptionText(value));
  }
  std::string folder = request.program;
  std::ranges::replace(folder, '/', '.');
  return fmt::format("{}.{}", folder, DigestOf(options).id.hex());
}

// Nothing is kept: each call reads the files again, which lets a script replace them.
Result<VariantCode> VariantFolders::Get(const VariantRequest& request) {
  const std::filesystem::path folder = std::filesystem::path(folder_) / VariantFolder(request);
  const auto source = std::make_shared<runtime::MemorySource>();
  VariantCode code;
  KILN_TRY(Bytes metadata, ReadMetadata(folder));
  KILN_TRY(code.metadata, artifact::DecodeMetadata(metadata));
  code.artifact.program = request.program;
  // Files have no digests of their own. They are made here, so that folders look like any other
  // source of artifacts.
  code.artifact.metadata = DigestOf(metadata);
  KILN_TRY_VOID(source->AddBytes(code.artifact.metadata, std::move(metadata)));
  for (const artifact::EntryPoint& entry : code.metadata.entry_points) {
    const std::filesystem::path path = folder / fmt::format("{}.spv", NameOf(entry.stage));
    KILN_TRY(const auto text, ReadFile(path));
    if (!text) {
      return Error{ErrorCode::kNotFound, fmt::format("there is no {}", path.string()), ""};
    }
    if (text->size() % sizeof(uint32_t) != 0) {
      return Error{ErrorCode::kCorrupt,
                   fmt::format("{} has {} bytes, which are no words", path.string(), text->size()),
                   ""};
    }
    const ByteView bytes = AsBytes(*text);
    code.artifact.code.push_back({entry.stage, DigestOf(bytes)});
    KILN_TRY_VOID(
        source->AddBytes(code.artifact.code.back().digest, Bytes(bytes.begin(), bytes.end())));
  }
  code.source = source;
  return code;
}

Result<PackVariants> PackVariants::Open(const std::string& path) {
  KILN_TRY(std::unique_ptr<pack::Pack> pack, pack::Pack::Open(path, {}));
  return PackVariants(
      std::make_shared<const runtime::PackSource>(std::move(pack), runtime::PackSourceConfig{}));
}

Result<VariantCode> PackVariants::Get(const VariantRequest& request) {
  return FindIn(source_, request);
}

// Values go with their type, since a source finds no option of another one. Metadata is read at
// once and code only when the pipeline is built.
Result<VariantCode> FindIn(const std::shared_ptr<const runtime::ArtifactSource>& source,
                           const VariantRequest& request) {
  std::vector<runtime::OptionSetting> options;
  for (const auto& [name, value] : request.options) {
    runtime::OptionSetting& option = options.emplace_back();
    option.name = name;
    std::visit([&](const auto& typed) { option.value = typed; }, value);
  }
  VariantCode code{.metadata = {}, .artifact = {}, .source = source};
  KILN_TRY(code.artifact, source->Find(request.program, options));
  KILN_TRY(const runtime::SourceBytes bytes, source->Read(code.artifact.metadata));
  KILN_TRY(code.metadata, artifact::DecodeMetadata(bytes.bytes));
  return code;
}

}  // namespace kiln::demo
