// SPDX-License-Identifier: MIT
#include "examples/demo/engine/daemon_variants.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "client/autostart.h"
#include "client/engine/fetch_into.h"
#include "client/manifest_programs.h"

namespace kiln::demo {
namespace {

Result<project::Manifest> ReadManifestOf(const DaemonRequest& request) {
  const std::string path = request.manifest.empty() ? project::FindManifest(".") : request.manifest;
  if (path.empty()) {
    return Error{ErrorCode::kNotFound,
                 "there is no kiln.toml here or above; name one with --manifest FILE",
                 "MANIFEST_MISSING"};
  }
  KILN_TRY(const client::Source file, client::ReadSource(path, path));
  return project::ReadManifest(file.text, path);
}

// Sources that are wrong, by their first message.
Error WrongSources(const std::string& program, const PlacedDiagnostic& first) {
  return {ErrorCode::kInvalidArgument, fmt::format("'{}': {}", program, first.message), ""};
}

// The program with its sources, and the values that the manifest fixes.
Result<client::Program> LoadNamed(client::Client& client, const project::Manifest& manifest,
                                  const std::string& name) {
  const auto program = std::ranges::find(manifest.programs, name, &project::ManifestProgram::name);
  if (program == manifest.programs.end()) {
    return Error{ErrorCode::kNotFound, fmt::format("{} has no '{}'", manifest.path, name), ""};
  }
  KILN_TRY(const client::LoadedProgram loaded, client::LoadProgram(manifest, *program));
  KILN_TRY(const client::OptionList declared, client::Declared(client, loaded.program));
  const auto wrong =
      std::ranges::find(declared.diagnostics, Severity::kError, &PlacedDiagnostic::severity);
  if (wrong != declared.diagnostics.end()) {
    return WrongSources(name, *wrong);
  }
  KILN_TRY(client::ProgramSpace space, client::SpaceOf(loaded, declared));
  return std::move(space.program);
}

Result<client::StartupVariants> SubjectOf(client::Client& client, const project::Manifest& manifest,
                                          std::span<const VariantRequest> wanted) {
  client::StartupVariants subject{.project = manifest.name, .programs = {}, .variants = {}};
  std::map<std::string, uint32_t> indexes;
  for (const VariantRequest& request : wanted) {
    const auto [index, added] =
        indexes.try_emplace(request.program, static_cast<uint32_t>(subject.programs.size()));
    if (added) {
      KILN_TRY(client::Program program, LoadNamed(client, manifest, request.program));
      subject.programs.push_back(std::move(program));
    }
    client::StartupVariants::Variant& variant = subject.variants.emplace_back();
    variant.program = index->second;
    variant.warm = true;
    for (const auto& [name, value] : request.options) {
      client::Option& option = variant.options.emplace_back();
      option.name = name;
      std::visit([&](const auto& typed) { option.value = typed; }, value);
    }
  }
  return subject;
}

}  // namespace

Result<DaemonVariants> DaemonVariants::Fetch(std::span<const VariantRequest> wanted,
                                             const DaemonRequest& request) {
  const std::string socket = request.socket.empty() ? client::DefaultSocket() : request.socket;
  client::Endpoint endpoint;
  endpoint.address = "unix:" + socket;
  KILN_TRY(const client::DaemonConnection connected,
           client::Connect(endpoint, client::Autostart::kYes));
  KILN_TRY(const project::Manifest manifest, ReadManifestOf(request));
  KILN_TRY(client::StartupVariants subject, SubjectOf(*connected.client, manifest, wanted));

  const auto source = std::make_shared<runtime::MemorySource>();
  client::StartupOptions options;
  options.before_attempt = [&] { (void)client::StartDaemon(socket); };  // the attempt tells
  KILN_TRY(client::StartupReport report,
           client::FetchInto(*source, *connected.client,
                             {.subject = std::move(subject),
                              .options = std::move(options),
                              .on_progress = [&](const client::StartupProgress& progress) {
                                if (request.on_progress) {
                                  request.on_progress(progress);
                                }
                                return client::Next::kGoOn;
                              }}));
  for (const client::StartupFailure& failure : report.failures) {
    if (!failure.outcome.diagnostics.empty()) {
      return WrongSources(failure.program, failure.outcome.diagnostics.front());
    }
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("'{}' with {} was not built", failure.program,
                             client::OptionsText(failure.options)),
                 ""};
  }
  return DaemonVariants(source, std::move(report));
}

Result<VariantCode> DaemonVariants::Get(const VariantRequest& request) {
  return FindIn(source_, request);
}

}  // namespace kiln::demo
