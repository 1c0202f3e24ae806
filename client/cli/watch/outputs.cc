// SPDX-License-Identifier: MIT
#include "client/cli/watch/outputs.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/output/results.h"
#include "compiler/base/beneath.h"

namespace kiln::cli {
namespace {

Error Damaged(const Digest& digest) {
  return {.code = ErrorCode::kDataLoss,
          .context = "the bytes of " + digest.id.hex() + " did not arrive whole",
          .reason = {}};
}

// Stages and metadata as they came inline; empty if they did not.
Result<std::map<Hash128, Bytes>> InlineBytes(const client::WatchArtifact& artifact) {
  std::map<Hash128, Bytes> blobs;
  if (artifact.metadata.empty()) {
    return blobs;
  }
  const auto add = [&](const Digest& digest, std::string_view text) {
    const bool whole = DigestOf(text) == digest;
    const ByteView bytes = AsBytes(text);
    blobs[digest.id] = Bytes(bytes.begin(), bytes.end());
    return whole ? Result<void>() : Result<void>(Damaged(digest));
  };
  std::string_view rest = artifact.data;
  for (const client::StageCode& code : artifact.artifact.code) {
    KILN_TRY_VOID(add(code.digest, rest.substr(0, code.digest.size)));
    rest.remove_prefix(std::min<size_t>(code.digest.size, rest.size()));
  }
  KILN_TRY_VOID(add(artifact.artifact.metadata, artifact.metadata));
  return blobs;
}

}  // namespace

Result<void> WatchOutputs::Add(const client::WatchArtifact& artifact, const Fetch& fetch) {
  KILN_TRY(auto blobs, InlineBytes(artifact));
  if (blobs.empty()) {
    KILN_TRY(blobs, fetch(artifact));
  }
  Entry entry{.artifact = artifact};
  entry.artifact.data.clear();
  entry.artifact.metadata.clear();
  const std::string stem = FileStem(artifact.program, artifact.artifact.signature);
  const auto write = [&](const Digest& digest, const std::string& name) -> Result<void> {
    const auto bytes = blobs.find(digest.id);
    if (bytes == blobs.end()) {
      return Damaged(digest);
    }
    stale_.erase(name);
    return WriteFileBeneath(folder_, name, bytes->second);
  };
  for (const client::StageCode& code : artifact.artifact.code) {
    const std::string stage = StageName(code.stage);
    const std::string name = fmt::format("{}{}{}.spv", stem, stage.empty() ? "" : ".", stage);
    KILN_TRY_VOID(write(code.digest, name));
    entry.code.emplace_back(stage.empty() ? "program" : stage, name);
  }
  entry.metadata = stem + ".meta";
  KILN_TRY_VOID(write(artifact.artifact.metadata, entry.metadata));
  Entry& known = entries_[artifact.program + '\n' + client::OptionsText(artifact.options) + '\n' +
                          artifact.artifact.target];
  for (const auto& [stage, name] : known.code) {
    stale_.insert(name);
  }
  stale_.insert(known.metadata);
  known = std::move(entry);
  return {};
}

Result<void> WatchOutputs::Settle() {
  nlohmann::ordered_json index = nlohmann::ordered_json::array();
  for (const auto& [key, entry] : entries_) {
    nlohmann::ordered_json options = nlohmann::ordered_json::object();
    for (const client::Option& option : entry.artifact.options) {
      std::visit([&](const auto& value) { options[option.name] = value; }, option.value);
    }
    nlohmann::ordered_json code = nlohmann::ordered_json::object();
    for (const auto& [stage, name] : entry.code) {
      code[stage] = name;
      stale_.erase(name);
    }
    stale_.erase(entry.metadata);
    index.push_back({{"program", entry.artifact.program},
                     {"options", options},
                     {"target", entry.artifact.artifact.target},
                     {"signature", entry.artifact.artifact.signature},
                     {"code", code},
                     {"metadata", entry.metadata},
                     {"layout_hash", entry.artifact.artifact.layout_hash}});
  }
  KILN_TRY_VOID(WriteFileBeneath(folder_, "index.json", AsBytes(index.dump(1))));
  stale_.erase("");
  for (const std::string& name : stale_) {
    std::error_code ignored;
    std::filesystem::remove(folder_ + "/" + name, ignored);
  }
  stale_.clear();
  return {};
}

}  // namespace kiln::cli
