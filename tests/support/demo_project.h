// SPDX-License-Identifier: MIT
// The demo of examples/demo as a batch for the engine of the daemon: its manifest with typed
// values, its sources as texts that can be edited.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "client/project/manifest.h"
#include "compiler/base/result.h"
#include "server/compile/batch/batch.h"

namespace kiln::bench {

struct DemoProject {
  project::Manifest manifest;
  std::map<std::string, std::string> sources;  // by logical path
};

// Errors: those of reading files and manifests.
Result<DemoProject> LoadDemo(const std::string& folder);

// The project with `from` replaced in one source. Requires: it is there once.
DemoProject Edited(DemoProject project, const std::string& path, std::string_view from,
                   std::string_view to);

// Every program with its space. Errors: kInvalidArgument if the sources or values are wrong.
Result<compile::BatchRequest> BatchOf(const DemoProject& project);

}  // namespace kiln::bench
