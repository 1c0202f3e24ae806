// SPDX-License-Identifier: MIT
// kiln compile: one variant through the daemon, artifacts to files.
#include <algorithm>
#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/project.h"
#include "client/cli/results.h"
#include "client/cli/verbs.h"
#include "compiler/artifact/metadata.h"

namespace kiln::cli {
namespace {

bool IsFile(const std::string& what) { return what.ends_with(".rpl"); }

// The program that the arguments name.
Result<LoadedProgram> LoadNamed(const Global& global, const CompileArguments& arguments,
                                project::Manifest& manifest) {
  if (!std::all_of(arguments.what.begin(), arguments.what.end(), IsFile)) {
    if (arguments.what.size() != 1) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context = "name one program of the manifest, or .rpl files",
                   .reason = "USAGE"};
    }
    KILN_TRY(manifest, LoadManifest(global));
    for (const project::ManifestProgram& program : manifest.programs) {
      if (program.name == arguments.what[0]) {
        return LoadProgram(manifest, program);
      }
    }
    return Error{
        .code = ErrorCode::kNotFound,
        .context = fmt::format("'{}' has no program '{}'", manifest.path, arguments.what[0]),
        .reason = "PROGRAM_UNKNOWN"};
  }
  LoadedProgram loaded;
  loaded.program.name = std::filesystem::path(arguments.what[0]).stem().string();
  loaded.program.pipeline = arguments.pipeline;
  for (const std::string& file : arguments.what) {
    // Logical paths are relative labels: what leads out of the folder is left off.
    const std::string label = std::filesystem::path(file).is_absolute() || file.starts_with("..")
                                  ? std::filesystem::path(file).filename().string()
                                  : std::filesystem::path(file).lexically_normal().string();
    KILN_TRY(client::Source source, ReadSource(file, label));
    loaded.program.sources.push_back(std::move(source));
  }
  for (const std::string& entry : arguments.entries) {
    KILN_TRY(client::EntryPoint read, ReadEntry(entry));
    loaded.program.entries.push_back(std::move(read));
  }
  loaded.program.targets.push_back({.name = "spirv",
                                    .form = client::Form::kSpirv,
                                    .env = arguments.environment,
                                    .version = {},
                                    .debug = client::Debug::kNames,
                                    .combined = arguments.combined});
  return loaded;
}

void PrintArtifact(const Global& global, const std::string& program,
                   const client::Artifact& artifact) {
  static constexpr std::string_view kOrigins[] = {"",      "compiled", "memory",
                                                  "local", "upstream", "shared"};
  const std::string_view origin = kOrigins[static_cast<size_t>(artifact.origin)];
  if (global.json) {
    nlohmann::ordered_json code = nlohmann::ordered_json::array();
    for (const client::StageCode& stage : artifact.code) {
      code.push_back({{"stage", StageName(stage.stage)},
                      {"id", stage.digest.id.hex()},
                      {"bytes", stage.digest.size}});
    }
    const nlohmann::ordered_json item{
        {"v", 1},
        {"type", "item"},
        {"program", program},
        {"outcome", "ok"},
        {"origin", origin},
        {"signature", artifact.signature},
        {"live_options", artifact.live_options},
        {"artifacts",
         {{{"target", artifact.target}, {"code", code}, {"metadata", artifact.metadata.id.hex()}}}},
        {"cpu_ms", static_cast<double>(artifact.cpu_us) / 1000.0}};
    fmt::print("{}\n", item.dump());
  } else if (!global.quiet) {
    fmt::print(stderr, "{} {} ({})\n", program, artifact.signature.substr(0, 8), origin);
  }
}

Result<void> WriteArtifact(const CompileArguments& arguments, const std::string& program,
                           const client::Artifact& artifact, const Fetched& fetched) {
  std::string stem = program;
  std::replace(stem.begin(), stem.end(), '/', '.');
  stem += "." + artifact.signature.substr(0, 8);
  const auto blob = [&](const Digest& digest) -> Result<ByteView> {
    const auto found = fetched.blobs.find(digest.id);
    if (found == fetched.blobs.end()) {
      return Error{.code = ErrorCode::kDataLoss,
                   .context = "the daemon did not send " + digest.id.hex(),
                   .reason = {}};
    }
    return ByteView(found->second);
  };
  if (!arguments.out.empty()) {
    for (const client::StageCode& code : artifact.code) {
      const std::string stage = StageName(code.stage);
      const std::string path =
          fmt::format("{}/{}{}{}.spv", arguments.out, stem, stage.empty() ? "" : ".", stage);
      KILN_TRY(const ByteView bytes, blob(code.digest));
      KILN_TRY_VOID(WriteFile(path, bytes));
    }
    KILN_TRY(const ByteView metadata, blob(artifact.metadata));
    KILN_TRY_VOID(WriteFile(fmt::format("{}/{}.meta", arguments.out, stem), metadata));
  }
  if (!arguments.meta.empty()) {
    KILN_TRY(const ByteView metadata, blob(artifact.metadata));
    KILN_TRY(const std::string json, artifact::MetadataJson(metadata));
    KILN_TRY_VOID(WriteFile(arguments.meta, AsBytes(json)));
  }
  return {};
}

}  // namespace

int RunCompile(const Global& global, const CompileArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  project::Manifest manifest;
  Result<LoadedProgram> loaded = LoadNamed(global, arguments, manifest);
  if (!loaded.ok()) {
    return Fail(global, loaded.error());
  }
  Result<client::Connected> connected = ConnectTo(global);
  if (!connected.ok()) {
    return Fail(global, connected.error());
  }
  client::Client& client = *connected->client;
  client::Program& program = loaded->program;
  Result<client::ListedOptions> declared = Declared(client, program);
  if (!declared.ok()) {
    return Fail(global, declared.error());
  }
  if (loaded->manifest != nullptr) {
    Result<client::ProgramSpace> space = SpaceOf(*loaded, *declared);
    if (!space.ok()) {
      return Fail(global, space.error());
    }
    program.options = space->program.options;
  }
  std::vector<client::Option> options;
  for (const std::string& text : arguments.options) {
    Result<client::Option> option = TypedOption(text, *declared);
    if (!option.ok()) {
      return Fail(global, option.error());
    }
    options.push_back(std::move(option).value());
  }
  Fetched fetched;
  const Result<client::FetchDone> done =
      client.FetchVariants(program, std::span(&options, 1), {}, Collect(fetched));
  if (!done.ok()) {
    return Fail(global, done.error());
  }
  int exit = kSuccess;
  for (const client::Outcome& outcome : fetched.outcomes) {
    const size_t errors =
        ShowDiagnostics(global, outcome.diagnostics, program.sources, program.name);
    exit = errors != 0 || outcome.kind != client::OutcomeKind::kOk ? kWrongSource : exit;
    for (const client::Artifact& artifact : outcome.artifacts) {
      PrintArtifact(global, program.name, artifact);
      const Result<void> written = WriteArtifact(arguments, program.name, artifact, fetched);
      if (!written.ok()) {
        return Fail(global, written.error());
      }
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  PrintResult(global, "compile", exit, seconds.count(), {});
  return exit;
}

}  // namespace kiln::cli
