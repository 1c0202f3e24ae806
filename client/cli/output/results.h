// SPDX-License-Identifier: MIT
// What came over a fetch: outcomes and verified blobs, and how they become files.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "client/client.h"
#include "client/types.h"
#include "compiler/base/result.h"

namespace kiln::cli {

struct Global;

struct FetchResult {
  std::vector<client::Outcome> outcomes;
  std::map<Hash128, Bytes> blobs;  // by content id
  client::FetchDone done;
};

// Handlers that fill `fetched`, which must outlive them.
client::Client::FetchHandlers Collect(FetchResult& fetched);

// Lives as long as `fetched`. Errors: kDataLoss if the daemon did not send it.
Result<ByteView> BlobOf(const FetchResult& fetched, const Digest& digest);

// What index.json of a folder of results says of one.
nlohmann::ordered_json IndexRow(const client::Artifact& artifact);

// {"fog": true, "lights": 4}
nlohmann::ordered_json OptionsJson(const std::vector<client::Option>& options);

// "ok", "source_error", "limit", "poison"
std::string_view OutcomeName(client::OutcomeKind kind);

// What an outcome ends a command with. `errors`: of its diagnostics, which are shown. One that has
// no artifact and none of these says why here, so that no command ends badly in silence.
int OutcomeExit(const Global& global, const std::string& program, const client::Outcome& outcome,
                size_t errors);

// The line of --json about a result: one artifact of an outcome, or none for one that has none.
struct ItemOf {
  const std::string& program;
  const std::vector<client::Option>& options;
  const client::Outcome& outcome;
  const client::Artifact* artifact = nullptr;
  std::string served = "1";                   // decimal: variants
  std::map<Hash128, std::string> paths = {};  // files that were written, by content id
};
nlohmann::ordered_json ItemJson(const ItemOf& item);

// "rock.forward.8150c5a3": how names of files of a result begin; one part of a path, whatever a
// manifest or a daemon calls them. `signature`: hex, as the daemon says it.
std::string FileStem(std::string_view program, std::string_view signature);

// "vertex"; empty for a combined module.
std::string StageName(client::Stage stage);

}  // namespace kiln::cli
