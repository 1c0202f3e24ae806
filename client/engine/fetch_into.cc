// SPDX-License-Identifier: MIT
// Puts what a startup fetch brings into a MemorySource, from which an engine's pipelines are made.
// The thread that calls runs the callbacks; the source has a lock of its own.
#include "client/engine/fetch_into.h"

#include <algorithm>
#include <utility>

namespace kiln::client {
namespace {

// The options that decide which variants a result of a batch serves. Options that the code does not
// depend on are left out: a result under them would be found by one variant and missed by all
// others that share it (spec/cache 3).
std::vector<Option> LiveOf(const StartupArtifact& fetched) {
  std::vector<Option> live;
  for (const Option& option : fetched.options) {
    if (std::ranges::count(fetched.artifact.live_options, option.name) > 0) {
      live.push_back(option);
    }
  }
  return live;
}

}  // namespace

runtime::SourceArtifact SourceArtifactOf(const std::string& program, const Artifact& artifact) {
  runtime::SourceArtifact out{.program = program, .metadata = artifact.metadata, .code = {}};
  for (const StageCode& code : artifact.code) {
    runtime::CodeRef& ref = out.code.emplace_back();
    ref.digest = code.digest;
    if (code.stage != Stage::kNone) {  // else it is a module of all stages
      // The client's stages begin with "none", those of artifacts with "vertex".
      ref.stage = static_cast<artifact::Stage>(static_cast<int>(code.stage) - 1);
    }
  }
  return out;
}

std::vector<runtime::OptionSetting> OptionSettingsOf(std::span<const Option> options) {
  std::vector<runtime::OptionSetting> settings;
  settings.reserve(options.size());
  for (const Option& option : options) {
    settings.push_back({option.name, option.value});
  }
  return settings;
}

// The callbacks take references to the arguments, which live until Run returns.
Result<StartupReport> FetchInto(runtime::MemorySource& source, Client& client,
                                FetchRequest request) {
  const bool variants = std::holds_alternative<StartupVariants>(request.subject);
  // What the source has already is not sent again.
  for (const Digest& digest : source.Have()) {
    request.options.have.push_back(digest);
  }
  StartupFetch fetch(client, std::move(request.subject), std::move(request.options));
  return fetch.Run(
      {.on_blob = [&](const FetchedBlob& blob) { return source.AddBytes(blob.digest, blob.bytes); },
       .on_artifact = [&](const StartupArtifact& fetched) -> Result<void> {
         const auto artifact = SourceArtifactOf(fetched.program, fetched.artifact);
         // A variant that was asked for is found under the options that it was asked with. A result
         // of a batch serves every variant that agrees on its live options, so it is kept under
         // these alone (spec/cache 3.3).
         if (variants) {
           source.AddArtifact(artifact, OptionSettingsOf(fetched.options));
         } else {
           source.AddResult(artifact, OptionSettingsOf(LiveOf(fetched)));
         }
         return {};
       },
       .on_progress = std::move(request.on_progress)});
}

}  // namespace kiln::client
