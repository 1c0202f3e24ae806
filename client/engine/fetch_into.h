// SPDX-License-Identifier: MIT
// What a daemon sends -> what pipelines are made from. The one place that knows both: an engine
// that starts from a daemon needs this call, and that of its source, and no types in between.
// See spec/pso 9.6
//
//   auto source = std::make_shared<MemorySource>();
//   KILN_TRY(StartupReport report, FetchInto(*source, *client, {subject, options, on_progress}));
//   pipelines->Load(source);
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "client/startup_fetch.h"
#include "runtime/pipeline/memory_source.h"

namespace kiln::client {

struct FetchRequest {
  StartupSubject subject;
  StartupOptions options = {};  // `have` is added from the source
  std::function<Next(const StartupProgress&)> on_progress = nullptr;
};

// Until `source` has everything, or an error ends it. A result of a batch serves every variant with
// its values of live options; what was asked for as a variant is found as it was asked for. The
// source may be in use. Sources that are wrong are failures of the report.
// Errors: those of StartupFetch::Run.
Result<StartupReport> FetchInto(runtime::MemorySource& source, Client& client,
                                FetchRequest request);

// The parts of it, for engines with a source of their own.
runtime::SourceArtifact SourceArtifactOf(const std::string& program, const Artifact& artifact);
std::vector<runtime::OptionSetting> OptionSettingsOf(std::span<const Option> options);

}  // namespace kiln::client
