// SPDX-License-Identifier: MIT
// The folder of `kiln watch --out`: the current artifacts and an index that leads to them
// (spec/cli 6.5). Only the thread that reads events uses it, so there is no lock. While sources are
// broken no event comes for them and their last good files stay.
#include "client/cli/watch/outputs.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/output/results.h"
#include "compiler/base/files/beneath.h"

namespace kiln::cli {
namespace {

Error Damaged(const Digest& digest) {
  return {.code = ErrorCode::kDataLoss,
          .context = "the bytes of " + digest.id.hex() + " did not arrive whole",
          .reason = {}};
}

}  // namespace

// An error in the middle leaves files without a row. They are harmless: names have the signature,
// and the next result of the variant writes the same or other ones.
Result<void> WatchOutputs::Add(const client::WatchArtifact& artifact, const Fetch& fetch) {
  std::map<Hash128, Bytes> blobs;
  KILN_TRY(std::vector<client::FetchedBlob> inline_blobs, client::InlineBlobs(artifact));
  for (client::FetchedBlob& blob : inline_blobs) {
    blobs[blob.digest.id] = std::move(blob.bytes);
  }
  // Small artifacts come along with their event, large ones are fetched.
  if (blobs.empty()) {
    KILN_TRY(blobs, fetch(artifact));
  }
  Entry entry{.artifact = artifact};
  // The row is kept as long as the watch runs, and bytes that lie on disk by then are not needed in
  // memory.
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
  // One row for each variant and target. The files of its former result become stale, and go when
  // the generation is settled, unless another variant has the same result.
  Entry& known = entries_[artifact.program + '\n' + client::OptionsText(artifact.options) + '\n' +
                          artifact.artifact.target];
  for (const auto& [stage, name] : known.code) {
    stale_.insert(name);
  }
  stale_.insert(known.metadata);
  known = std::move(entry);
  return {};
}

// The whole index is made anew from the rows: it is small, and it never has a row of a file that is
// gone.
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
  // The index is replaced before stale files go: whoever read the old one finds its files until
  // then, and nothing that the new one names is ever missing.
  KILN_TRY_VOID(WriteFileBeneath(folder_, "index.json", AsBytes(index.dump(1))));
  // The empty name is that of a variant that had no result before.
  stale_.erase("");
  for (const std::string& name : stale_) {
    std::error_code ignored;
    std::filesystem::remove(folder_ + "/" + name, ignored);
  }
  stale_.clear();
  return {};
}

}  // namespace kiln::cli
