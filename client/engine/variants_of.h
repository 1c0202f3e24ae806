// SPDX-License-Identifier: MIT
// Variants that an engine names -> what StartupFetch and LiveReload are asked for: programs with
// their sources read, values of options with their declared types. See spec/pso 9.6
#pragma once

#include <span>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/project/manifest.h"
#include "client/startup_fetch.h"
#include "runtime/pipeline/artifact_source.h"

namespace kiln::client {

// As ArtifactSource::Find is asked; options that are left out have their defaults.
struct NamedVariant {
  std::string program;
  std::vector<runtime::OptionSetting> options;
};

// The nearest kiln.toml of the working folder and above, or the one of `path`.
// Errors: kNotFound, MANIFEST_MISSING; those of ReadManifest.
Result<project::Manifest> OpenManifest(const std::string& path);

// A program of the manifest with the values that it fixes, uploaded. Errors: kNotFound for a
// program or source that is not there; kInvalidArgument, SOURCES, with the first message for
// sources that are wrong.
Result<Program> LoadNamedProgram(Client& client, const project::Manifest& manifest,
                                 const std::string& name);

// All of `wanted`, in its order, warm. A manifest without a name goes by that of its folder.
// Errors: as LoadNamedProgram.
Result<StartupVariants> VariantsOf(Client& client, const project::Manifest& manifest,
                                   std::span<const NamedVariant> wanted);
std::string ProjectNameOf(const project::Manifest& manifest);

// The subject with one variant more, whose program must be there. Returns its index.
uint32_t AddVariant(StartupVariants& subject, uint32_t program,
                    std::span<const runtime::OptionSetting> options);

// What is wrong with the sources of failures: a line for each message of all of them, each once.
std::string MessagesOf(std::span<const StartupFailure> failures);

}  // namespace kiln::client
