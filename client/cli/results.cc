// SPDX-License-Identifier: MIT
#include "client/cli/results.h"

namespace kiln::cli {
client::Client::FetchHandlers Collect(Fetched& fetched) {
  return {
      .on_outcome = [&](const client::Outcome& outcome) { fetched.outcomes.push_back(outcome); },
      .on_blob = [&](const client::FetchedBlob& blob) -> Result<void> {
        fetched.blobs.emplace(blob.digest.id, blob.bytes);
        return {};
      }};
}

std::string StageName(client::Stage stage) {
  switch (stage) {
    case client::Stage::kNone:
      return {};
    case client::Stage::kVertex:
      return "vertex";
    case client::Stage::kFragment:
      return "fragment";
    case client::Stage::kCompute:
      return "compute";
  }
  return {};
}

}  // namespace kiln::cli
