// SPDX-License-Identifier: MIT
// Connects a live reload with the pipelines and the source of an engine: what LiveReload delivers
// goes into both.
#include "client/engine/reload_into.h"

#include <utility>

#include <fmt/format.h>

#include "client/engine/fetch_into.h"

namespace kiln::client {
namespace {

// What the source has of each variant. The engine already runs that, so the first artifact of a
// session replaces no pipeline unless its content differs.
std::vector<ArtifactContent> KnownOf(const runtime::MemorySource& source,
                                     const StartupVariants& subject) {
  std::vector<ArtifactContent> known;
  for (const StartupVariants::Variant& variant : subject.variants) {
    ArtifactContent& content = known.emplace_back();
    const auto found =
        source.Find(subject.programs[variant.program].name, OptionSettingsOf(variant.options));
    if (found.ok()) {
      content.push_back(found->metadata);
      for (const runtime::CodeRef& code : found->code) {
        content.push_back(code.digest);
      }
    }
  }
  return known;
}

}  // namespace

// `pipelines` must outlive the returned reload. The source is shared, since a replaced pipeline may
// still be read from it.
Result<std::unique_ptr<LiveReload>> ReloadInto(runtime::Pipelines& pipelines,
                                               std::shared_ptr<runtime::MemorySource> source,
                                               Client& client, ReloadRequest request) {
  if (request.pipelines.size() != request.subject.variants.size()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("there are {} variants and {} pipelines",
                             request.subject.variants.size(), request.pipelines.size()),
                 ""};
  }
  // Without this the first connection would replace every pipeline by what it is already.
  request.options.known = KnownOf(*source, request.subject);
  const auto on_artifact = [&pipelines, source, ids = std::move(request.pipelines)](
                               uint32_t variant, const StartupArtifact& fetched) -> Result<void> {
    const auto options = OptionSettingsOf(fetched.options);
    runtime::SourceArtifact artifact = SourceArtifactOf(fetched.program, fetched.artifact);
    // First into the source, from which a pipeline that is made later takes it, then into the
    // pipeline that exists.
    source->AddArtifact(artifact, options);
    artifact.options = options;
    return pipelines.Replace(ids[variant], artifact, source);
  };
  return LiveReload::Start(
      client, std::move(request.subject), std::move(request.options),
      {.on_blob =
           [source](const FetchedBlob& blob) { return source->AddBytes(blob.digest, blob.bytes); },
       .on_artifact = on_artifact,
       .on_news = std::move(request.on_news)});
}

}  // namespace kiln::client
