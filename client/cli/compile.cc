// SPDX-License-Identifier: MIT
// kiln compile: one variant through the daemon, artifacts to files.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/depfile.h"
#include "client/cli/explanation.h"
#include "client/cli/project.h"
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

// A file to write.
struct Output {
  std::string name;  // within a folder
  ByteView bytes;
  bool binary = true;
};

// <program>.<signature>[.<stage>].<ext>
Result<std::vector<Output>> OutputsOf(const client::Program& program,
                                      const client::Artifact& artifact, const Fetched& fetched) {
  const auto target = std::ranges::find(program.targets, artifact.target, &client::Target::name);
  const client::Form form = target == program.targets.end() ? client::Form::kSpirv : target->form;
  std::string stem = program.name;
  std::replace(stem.begin(), stem.end(), '/', '.');
  stem += "." + artifact.signature.substr(0, 8);
  std::vector<Output> outputs;
  for (const client::StageCode& code : artifact.code) {
    const std::string stage = StageName(code.stage);
    KILN_TRY(const ByteView bytes, BlobOf(fetched, code.digest));
    outputs.push_back(
        {.name = fmt::format("{}{}{}{}", stem, stage.empty() ? "" : ".", stage, ExtensionOf(form)),
         .bytes = bytes,
         .binary = form == client::Form::kSpirv});
  }
  KILN_TRY(const ByteView metadata, BlobOf(fetched, artifact.metadata));
  outputs.push_back({.name = stem + ".meta", .bytes = metadata});
  return outputs;
}

// Does the path name one file, by how it ends?
bool NamesFile(const std::string& path) {
  for (const client::Form form : {client::Form::kSpirv, client::Form::kWgsl, client::Form::kMeta,
                                  client::Form::kMsl, client::Form::kGlsl, client::Form::kHlsl}) {
    if (path.ends_with(ExtensionOf(form))) {
      return true;
    }
  }
  return false;
}

// The one output that a file or stdout can take: the metadata if that was asked for, else code.
Result<Output> TheOne(const std::vector<Output>& outputs, const std::string& out) {
  const bool metadata = out.ends_with(".meta") || outputs.size() == 1;
  if (metadata) {
    return outputs.back();
  }
  if (outputs.size() != 2) {
    return Error{
        .code = ErrorCode::kInvalidArgument,
        .context = fmt::format("--out {} takes one file, the variant has {}; name a folder", out,
                               outputs.size()),
        .reason = "USAGE"};
  }
  return outputs.front();
}

Result<void> WriteArtifact(const CompileArguments& arguments, const client::Program& program,
                           const client::Artifact& artifact, const Fetched& fetched,
                           std::vector<std::string>& written) {
  KILN_TRY(const std::vector<Output> outputs, OutputsOf(program, artifact, fetched));
  if (arguments.out == "-") {
    KILN_TRY(const Output output, TheOne(outputs, arguments.out));
    if (output.binary && ::isatty(STDOUT_FILENO) != 0) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context = "binary output is not written to a terminal",
                   .reason = "USAGE"};
    }
    (void)std::fwrite(output.bytes.data(), 1, output.bytes.size(), stdout);
  } else if (NamesFile(arguments.out)) {
    KILN_TRY(const Output output, TheOne(outputs, arguments.out));
    KILN_TRY_VOID(WriteFile(arguments.out, output.bytes));
    written.push_back(arguments.out);
  } else if (!arguments.out.empty()) {
    for (const Output& output : outputs) {
      written.push_back(arguments.out + "/" + output.name);
      KILN_TRY_VOID(WriteFile(written.back(), output.bytes));
    }
  }
  if (!arguments.meta.empty()) {
    KILN_TRY(const std::string json, artifact::MetadataJson(outputs.back().bytes));
    KILN_TRY_VOID(WriteFile(arguments.meta, AsBytes(json)));
    written.push_back(arguments.meta);
  }
  return {};
}

Result<void> WriteDependencies(const CompileArguments& arguments, const FetchedVariant& variant,
                               const std::vector<std::string>& written) {
  if (arguments.deps.empty()) {
    return {};
  }
  if (arguments.depfile_target.empty() && written.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "--deps needs --out or --depfile-target: what depends on the sources",
                 .reason = "USAGE"};
  }
  return WriteDepfile(arguments.deps,
                      arguments.depfile_target.empty() ? written[0] : arguments.depfile_target,
                      variant.files);
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
  std::vector<std::string> written;
  for (const client::Outcome& outcome : fetched.outcomes) {
    const size_t errors =
        ShowDiagnostics(global, outcome.diagnostics, program.sources, program.name);
    exit = errors != 0 || outcome.kind != client::OutcomeKind::kOk ? kWrongSource : exit;
    for (const client::Artifact& artifact : outcome.artifacts) {
      PrintArtifact(global, program.name, artifact);
      const Result<void> wrote = WriteArtifact(arguments, program, artifact, fetched, written);
      if (!wrote.ok()) {
        return Fail(global, wrote.error());
      }
    }
  }
  if (exit == kSuccess) {
    if (const Result<void> deps = WriteDependencies(arguments, *variant, written); !deps.ok()) {
      return Fail(global, deps.error());
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
