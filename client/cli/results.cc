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

Result<ByteView> BlobOf(const Fetched& fetched, const Digest& digest) {
  const auto found = fetched.blobs.find(digest.id);
  if (found == fetched.blobs.end()) {
    return Error{.code = ErrorCode::kDataLoss,
                 .context = "the daemon did not send " + digest.id.hex(),
                 .reason = {}};
  }
  return ByteView(found->second);
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
