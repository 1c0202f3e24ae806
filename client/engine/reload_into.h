// SPDX-License-Identifier: MIT
// Pipelines that follow their sources: a save becomes a replacement, which is drawn with after the
// next Pipelines::EndFrame. What an engine needs besides FetchInto while a game is made.
//
//   KILN_TRY(auto reload, ReloadInto(pipelines, source, *client,
//                                    {.subject = variants, .folder = folder, .pipelines = ids}));
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "client/engine/live_reload.h"
#include "runtime/pipeline/memory_source.h"
#include "runtime/pipeline/pipelines.h"

namespace kiln::client {

struct ReloadRequest {
  StartupVariants subject;
  LiveOptions options = {};
  std::vector<runtime::PipelineId> pipelines;  // of each variant of the subject, in its order
  std::function<void(const LiveNews&)> on_news = nullptr;
};

// Everything that is given must outlive what is returned; `source` is where the variants were
// fetched into. What a daemon sends that the source has already replaces nothing.
// Errors: kInvalidArgument unless there are as many pipelines as variants; those of LiveReload.
Result<std::unique_ptr<LiveReload>> ReloadInto(runtime::Pipelines& pipelines,
                                               std::shared_ptr<runtime::MemorySource> source,
                                               Client& client, ReloadRequest request);

}  // namespace kiln::client
