// SPDX-License-Identifier: MIT
#include "deploy/demo/engine/variants.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <fmt/format.h>

namespace kiln::demo {
namespace {

constexpr size_t kMaxFile = size_t{64} << 20;

// nullopt if there is no such file.
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

Result<artifact::PipelineMetadata> ReadMetadata(const std::filesystem::path& folder) {
  KILN_TRY(const auto json, ReadFile(folder / "metadata.json"));
  if (json) {
    KILN_TRY(const Bytes bytes, artifact::MetadataFromJson(*json));
    return artifact::DecodeMetadata(bytes);
  }
  KILN_TRY(const auto binary, ReadFile(folder / "metadata.bin"));
  if (!binary) {
    return Error{ErrorCode::kNotFound, fmt::format("there is no variant in {}", folder.string()),
                 ""};
  }
  return artifact::DecodeMetadata(AsBytes(*binary));
}

}  // namespace

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
  std::string options;
  for (const auto& [name, value] : request.options) {
    options += fmt::format("{}={}\n", name, OptionText(value));
  }
  std::string folder = request.program;
  std::ranges::replace(folder, '/', '.');
  return fmt::format("{}.{}", folder, DigestOf(options).id.hex());
}

Result<VariantCode> VariantFolders::Get(const VariantRequest& request) {
  const std::filesystem::path folder = std::filesystem::path(folder_) / VariantFolder(request);
  VariantCode code;
  KILN_TRY(code.metadata, ReadMetadata(folder));
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
    std::vector<uint32_t> words(text->size() / sizeof(uint32_t));
    std::memcpy(words.data(), text->data(), text->size());
    code.modules.push_back({entry.stage, std::move(words)});
  }
  return code;
}

}  // namespace kiln::demo
