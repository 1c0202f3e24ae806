// SPDX-License-Identifier: MIT
// Artifacts of a watch session as files: the current ones of every variant, and an index that
// leads to them. Files of a variant that is broken now stay as they are. See spec/cli 6.1, 6.5
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/hot_reload.h"
#include "compiler/base/result.h"

namespace kiln::cli {

class WatchOutputs {
 public:
  // Bytes of an artifact that did not come along: those named, by content id.
  using Fetch = std::function<Result<std::map<Hash128, Bytes>>(const client::WatchArtifact&)>;

  explicit WatchOutputs(std::string folder) : folder_(std::move(folder)) {}

  // Writes the files of one artifact. Errors: of the world; kDataLoss for damaged bytes.
  Result<void> Add(const client::WatchArtifact& artifact, const Fetch& fetch);
  // Writes index.json; then removes what it does not name any more.
  Result<void> Settle();

 private:
  struct Entry {
    client::WatchArtifact artifact;                         // without bytes
    std::vector<std::pair<std::string, std::string>> code;  // stage, file
    std::string metadata;
  };

  const std::string folder_;
  std::map<std::string, Entry> entries_;  // by program, options and target
  std::set<std::string> stale_;           // files
};

}  // namespace kiln::cli
