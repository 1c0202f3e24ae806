// SPDX-License-Identifier: MIT
// kiln compile: one variant through the daemon, artifacts to files.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/explanation.h"
#include "client/cli/results.h"
#include "client/cli/variant.h"
#include "client/cli/verbs.h"
#include "compiler/artifact/metadata.h"
#include "compiler/base/file.h"

namespace kiln::cli {
namespace {

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
  if (!arguments.out.empty()) {
    for (const client::StageCode& code : artifact.code) {
      const std::string stage = StageName(code.stage);
      const std::string path =
          fmt::format("{}/{}{}{}.spv", arguments.out, stem, stage.empty() ? "" : ".", stage);
      KILN_TRY(const ByteView bytes, BlobOf(fetched, code.digest));
      KILN_TRY_VOID(WriteFile(path, bytes));
    }
    KILN_TRY(const ByteView metadata, BlobOf(fetched, artifact.metadata));
    KILN_TRY_VOID(WriteFile(fmt::format("{}/{}.meta", arguments.out, stem), metadata));
  }
  if (!arguments.meta.empty()) {
    KILN_TRY(const ByteView metadata, BlobOf(fetched, artifact.metadata));
    KILN_TRY(const std::string json, artifact::MetadataJson(metadata));
    KILN_TRY_VOID(WriteFile(arguments.meta, AsBytes(json)));
  }
  return {};
}

}  // namespace

int RunCompile(const Global& global, const CompileArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const Result<FetchedVariant> variant = FetchVariant(global, arguments.variant);
  if (!variant.ok()) {
    return Fail(global, variant.error());
  }
  const client::Program& program = variant->program;
  const Fetched& fetched = variant->fetched;
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
  for (const client::Explanation& explanation : variant->explanations) {
    PrintExplanation(global, explanation, {});
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  PrintResult(global, "compile", exit, seconds.count(), {});
  return exit;
}

}  // namespace kiln::cli
