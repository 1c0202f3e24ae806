// SPDX-License-Identifier: MIT
// The watch of the C interface: saves of sources become replaced pipelines while an engine runs.
// Its handlers run on threads of the watch, one at a time; the functions of libkiln that they call
// are safe to call from any thread.
#include "client/c/watch.h"

#include <utility>

#include <fmt/format.h>

#include "client/c/deliver.h"
#include "client/c/variants.h"
#include "runtime/c/foreign_call.h"

using namespace kiln;
using namespace kiln::c;

namespace {

// A copy of what the caller gave, for the threads of the watch.
struct WatchTarget {
  kiln_source* source;
  kiln_pipelines* pipelines;
  std::vector<kiln_pipeline_id> ids;
  kiln_client_news_function news;
  void* news_user;
};

Result<WatchTarget> TakeTarget(const kiln_client_watch_info& info, size_t variants) {
  KILN_TRY_VOID(NotNull(info.source, "info.source"));
  KILN_TRY(const auto ids, TakeArray(info.ids, info.id_count, "info.ids"));
  // Ids are matched to variants by place, so a list of another length has no meaning.
  if (!ids.empty() && (ids.size() != variants || info.pipelines == nullptr)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("'info' has {} ids for {} variants{}", ids.size(), variants,
                             info.pipelines == nullptr ? ", and no pipelines" : ""),
                 ""};
  }
  return WatchTarget{.source = info.source,
                     .pipelines = info.pipelines,
                     .ids = {ids.begin(), ids.end()},
                     .news = info.news,
                     .news_user = info.news_user};
}

// Into the source first, as the call that replaces the pipeline of the variant looks it up there.
// If there are no pipelines, the source alone gets the news, and the engine asks it.
Result<void> Replace(const WatchTarget& target, uint32_t variant,
                     const client::StartupArtifact& artifact) {
  KILN_TRY_VOID(AddArtifact(target.source, artifact));
  if (target.ids.empty()) {
    return {};
  }
  const std::vector<kiln_option> options = OptionsFor(artifact.options);
  kiln_variant name;
  KILN_INIT(name);
  name.program = TextOf(artifact.program);
  name.options = options.data();
  name.option_count = options.size();
  return CallKiln([&](kiln_error** error) {
    return kiln_pipelines_replace(target.pipelines, target.ids[variant], target.source, &name,
                                  error);
  });
}

client::LiveHandlers HandlersOf(std::shared_ptr<const WatchTarget> target) {
  client::LiveHandlers handlers;
  handlers.on_blob = [target](const client::FetchedBlob& blob) {
    return AddContent(target->source, blob.bytes);
  };
  handlers.on_artifact = [target](uint32_t variant, const client::StartupArtifact& artifact) {
    return Replace(*target, variant, artifact);
  };
  if (target->news != nullptr) {
    // The texts are lent for the length of the call.
    handlers.on_news = [target](const client::LiveNews& news) {
      target->news(target->news_user, static_cast<kiln_client_news_kind>(news.kind),
                   TextOf(news.program), TextOf(news.text));
    };
  }
  return handlers;
}

}  // namespace

kiln_result kiln_client_watch_start(kiln_client_variants* variants,
                                    const kiln_client_watch_info* info, kiln_client_watch** watch,
                                    kiln_error** error) {
  return ForeignCall(error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(variants, "variants"));
    KILN_TRY(const kiln_client_watch_info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(watch, "watch"));
    const ClientProject& project = *variants->project;
    if (!project.of_files) {
      return Error{ErrorCode::kFailedPrecondition, "the project has no files that could be watched",
                   "PROJECT"};
    }
    // The ids are copied, because the caller's array may go when this call returns; the source and
    // the pipelines must outlive the watch.
    KILN_TRY(WatchTarget target, TakeTarget(given, variants->subject.variants.size()));
    KILN_TRY_VOID(AddContent(target.source, {}));  // it is no pack
    auto made = std::make_unique<kiln_client_watch>();
    // The watch keeps the connection alive for as long as it runs.
    made->project = variants->project;
    KILN_TRY(made->reload, client::LiveReload::Start(
                               *project.connection->client, variants->subject,
                               {.folder = project.manifest.folder,
                                .known = variants->known,
                                .before_attempt = project.start_daemon},
                               HandlersOf(std::make_shared<const WatchTarget>(std::move(target)))));
    *watch = made.release();
    return {};
  });
}

// Ends the threads and joins them. No callback runs after it has returned.
void kiln_client_watch_destroy(kiln_client_watch* client_watch) { ForeignDestroy(client_watch); }
