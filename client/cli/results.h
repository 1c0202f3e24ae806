// SPDX-License-Identifier: MIT
// What came over a fetch: outcomes and verified blobs, and how they become files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/types.h"
#include "compiler/base/result.h"

namespace kiln::cli {

struct Fetched {
  std::vector<client::Outcome> outcomes;
  std::map<Hash128, Bytes> blobs;  // by content id
  client::FetchDone done;
};

// Handlers that fill `fetched`, which must outlive them.
client::Client::FetchHandlers Collect(Fetched& fetched);

// Lives as long as `fetched`. Errors: kDataLoss if the daemon did not send it.
Result<ByteView> BlobOf(const Fetched& fetched, const Digest& digest);

// "vertex"; empty for a combined module.
std::string StageName(client::Stage stage);

}  // namespace kiln::cli
