// SPDX-License-Identifier: MIT
// `kiln compile` (spec/cli 6.1): one variant, its artifacts to files or stdout. Results come from
// the daemon with their content, so the verb writes what is in its memory; nothing is compiled in
// this process.
#include "client/cli/variant/compile.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/add_verb.h"
#include "client/cli/exit_order.h"
#include "client/cli/failure.h"
#include "client/cli/output/depfile.h"
#include "client/cli/output/diagnostics_view.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/output/results.h"
#include "client/cli/project/project.h"
#include "client/cli/variant/explanation.h"
#include "client/cli/variant/variant.h"
#include "client/includes/include_set.h"
#include "compiler/artifact/metadata_json.h"
#include "compiler/base/files/beneath.h"
#include "compiler/base/files/file.h"

namespace kiln::cli {
namespace {

struct CompileArguments {
  VariantArguments variant;
  std::string out;             // folder, file, or "-"
  std::string meta;            // file for metadata as JSON
  std::string deps;            // dependency file
  std::string depfile_target;  // what it is about
  bool no_cache = false;       // neither read nor write
};

// On stderr for people: stdout may be the module itself.
void PrintArtifact(const Global& global, const ItemOf& item) {
  if (global.json) {
    PrintLine(ItemJson(item));
  } else if (!global.quiet && item.artifact != nullptr) {
    const nlohmann::ordered_json line = ItemJson(item);
    Print(stderr, "{} {} ({})\n", item.program, item.artifact->signature.substr(0, 8),
          line["origin"].get<std::string>());
  }
}

// A file to write.
struct Output {
  std::string name;  // within a folder
  Hash128 id;        // of the content
  ByteView bytes;
  bool binary = true;
};

// <program>.<signature>[.<stage>].<ext> Signatures are in the names, so files of several variants
// can stand in one folder and equal results share a file.
Result<std::vector<Output>> OutputsOf(const client::Program& program,
                                      const client::Artifact& artifact,
                                      const FetchResult& fetched) {
  // The extension follows from the form of the target, which an artifact names only.
  const auto target = std::ranges::find(program.targets, artifact.target, &client::Target::name);
  const client::Form form = target == program.targets.end() ? client::Form::kSpirv : target->form;
  const std::string stem = FileStem(program.name, artifact.signature);
  std::vector<Output> outputs;
  for (const client::StageCode& code : artifact.code) {
    const std::string stage = StageName(code.stage);
    KILN_TRY(const ByteView bytes, BlobOf(fetched, code.digest));
    outputs.push_back(
        {.name = fmt::format("{}{}{}{}", stem, stage.empty() ? "" : ".", stage, ExtensionOf(form)),
         .id = code.digest.id,
         .bytes = bytes,
         .binary = form == client::Form::kSpirv});
  }
  KILN_TRY(const ByteView metadata, BlobOf(fetched, artifact.metadata));
  // Metadata comes last; SingleMatch relies on that.
  outputs.push_back({.name = stem + ".meta", .id = artifact.metadata.id, .bytes = metadata});
  return outputs;
}

// Does the path name one file, by how it ends? A path is taken for a file only if its end says so;
// everything else is a folder, which is made if need be.
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
Result<Output> SingleMatch(const std::vector<Output>& outputs, const std::string& out) {
  const bool metadata = out.ends_with(".meta") || outputs.size() == 1;
  if (metadata) {
    return outputs.back();
  }
  // One module and its metadata: then it is clear which one was meant.
  if (outputs.size() != 2) {
    return Error{
        .code = ErrorCode::kInvalidArgument,
        .context = fmt::format("--out {} takes one file, the variant has {}; name a folder", out,
                               outputs.size()),
        .reason = "USAGE"};
  }
  return outputs.front();
}

// Files of this command, in the order in which they were written.
struct WrittenFiles {
  std::vector<std::string> files;
  std::map<Hash128, std::string> by_content;

  void Add(const std::string& path, Hash128 id) {
    files.push_back(path);
    by_content.emplace(id, path);
  }
};

// Code goes to one of three places: stdout, one file, or a folder. The metadata as JSON is beside
// that and may be the only thing that is asked for.
Result<void> WriteArtifact(const CompileArguments& arguments, const client::Program& program,
                           const client::Artifact& artifact, const FetchResult& fetched,
                           WrittenFiles& written) {
  KILN_TRY(const std::vector<Output> outputs, OutputsOf(program, artifact, fetched));
  if (arguments.out == "-") {
    KILN_TRY(const Output output, SingleMatch(outputs, arguments.out));
    // Words of SPIR-V may contain any escape sequence of a terminal.
    if (output.binary && ::isatty(STDOUT_FILENO) != 0) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context = "binary output is not written to a terminal",
                   .reason = "USAGE"};
    }
    (void)std::fwrite(output.bytes.data(), 1, output.bytes.size(), stdout);
  } else if (NamesFile(arguments.out)) {
    KILN_TRY(const Output output, SingleMatch(outputs, arguments.out));
    KILN_TRY_VOID(WriteFile(arguments.out, output.bytes));
    written.Add(arguments.out, output.id);
  } else if (!arguments.out.empty()) {
    for (const Output& output : outputs) {
      const std::string path = arguments.out + "/" + output.name;
      // The name is made of the program's, which a manifest chose: it must not lead out of the
      // folder (spec/daemon 11.6).
      KILN_TRY_VOID(WriteFileBeneath(arguments.out, output.name, output.bytes));
      written.Add(path, output.id);
    }
  }
  if (!arguments.meta.empty()) {
    KILN_TRY(const std::string json, artifact::MetadataJson(outputs.back().bytes));
    KILN_TRY_VOID(WriteFile(arguments.meta, AsBytes(json)));
    written.files.push_back(arguments.meta);
  }
  return {};
}

Result<void> WriteDependencies(const CompileArguments& arguments, const FetchedVariant& variant,
                               const std::vector<std::string>& written) {
  if (arguments.deps.empty()) {
    return {};
  }
  // A rule needs something that depends on the sources. The first file that was written stands for
  // all of them.
  if (arguments.depfile_target.empty() && written.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "--deps needs --out or --depfile-target: what depends on the sources",
                 .reason = "USAGE"};
  }
  return WriteDepfile(arguments.deps,
                      arguments.depfile_target.empty() ? written[0] : arguments.depfile_target,
                      variant.files);
}

// A target that fails does not keep the others from being written; the exit code tells of it. The
// order is diagnostics, files, the line about them, and the dependency file last: what a build tool
// takes as a sign of success must be written behind everything else.
int RunCompile(const Global& global, const CompileArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  Global own = global;
  // This verb has the flag and no other one does, so the copy has it for what connects.
  own.no_cache = arguments.no_cache;
  const Result<FetchedVariant> variant = FetchVariant(own, arguments.variant);
  if (!variant.ok()) {
    return Fail(own, variant.error());
  }
  const client::Program& program = variant->program;
  const FetchResult& fetched = variant->fetched;
  int exit = kSuccess;
  WrittenFiles written;
  for (const client::Outcome& outcome : fetched.outcomes) {
    const size_t errors =
        ShowDiagnostics(own, outcome.diagnostics, client::TextsOf(program), program.name);
    exit = WorseExit(exit, OutcomeExit(own, program.name, outcome, errors));
    for (const client::Artifact& artifact : outcome.artifacts) {
      const Result<void> wrote = WriteArtifact(arguments, program, artifact, fetched, written);
      if (!wrote.ok()) {
        return Fail(own, wrote.error());
      }
      PrintArtifact(own, {.program = program.name,
                          .options = variant->options,
                          .outcome = outcome,
                          .artifact = &artifact,
                          .paths = written.by_content});
    }
    if (outcome.artifacts.empty()) {
      PrintArtifact(own,
                    {.program = program.name, .options = variant->options, .outcome = outcome});
    }
  }
  // Without a dependency file the build tool runs the command again, which is right for a compile
  // that failed.
  if (exit == kSuccess) {
    if (const Result<void> deps = WriteDependencies(arguments, *variant, written.files);
        !deps.ok()) {
      return Fail(own, deps.error());
    }
  }
  for (const client::Explanation& explanation : variant->explanations) {
    PrintExplanation(own, explanation, {});
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  NoteResult("compile", seconds.count(), {});
  return exit;
}

}  // namespace

void AddCompile(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<CompileArguments>();
  CLI::App* verb = AddVerb(app, line,
                           {"compile", "Compile one variant",
                            "  kiln compile rock/forward -o fog -o lights=4 --out out\n"
                            "  kiln compile rock.rpl --entry vertex=main_vertex --entry "
                            "fragment=main_fragment --out out"},
                           [&line, arguments] { return RunCompile(line.global, *arguments); });
  AddVariant(*verb, arguments->variant);
  verb->get_option("what")->required();
  verb->add_flag("--explain", arguments->variant.explain, "Say why it was a hit or a miss");
  verb->add_option("-t,--target", arguments->variant.targets,
                   "Target of the manifest, or spirv, wgsl, meta, msl, glsl, hlsl; repeatable")
      ->take_all();
  verb->add_option("--out", arguments->out, "Folder for the artifacts, one file, or -");
  verb->add_option("--meta", arguments->meta, "File for the metadata as JSON");
  verb->add_option("--deps", arguments->deps, "Dependency file for Make and Ninja");
  verb->add_option("--depfile-target", arguments->depfile_target, "What that file is about");
  verb->add_flag("--no-cache", arguments->no_cache, "Neither read nor write the cache");
}

}  // namespace kiln::cli
