// SPDX-License-Identifier: MIT
// `kiln pack extract` (spec/cli 6.10): writes the files of one variant out of a pack. A pack may
// come from a stranger, so no name in it may lead outside the folder: names are cleaned
// (FileNameOf) and files are opened beneath the folder.
#include "client/cli/pack/extract.h"

#include <memory>

#include <fmt/format.h>

#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/print.h"
#include "client/cli/pack/artifacts.h"
#include "client/cli/pack/files.h"
#include "compiler/base/files/beneath.h"
#include "compiler/base/text/file_name.h"

namespace kiln::cli {
namespace {

// Files of one artifact, directly in the folder; their number. What the pack calls things decides
// over their names, not over where they are.
Result<uint64_t> WriteArtifact(const PackedArtifact& artifact, const std::string& program,
                               const std::string& folder) {
  // Eight digits of the live key keep the variants of a program apart if they are extracted into
  // one folder.
  const std::string stem = fmt::format("{}.{}.{}", FileNameOf(program), FileNameOf(artifact.target),
                                       artifact.live_key.hex().substr(0, 8));
  uint64_t files = 0;
  for (const PackedArtifact::Code& code : artifact.code) {
    const std::string stage = code.stage.empty() ? "" : "." + code.stage;
    KILN_TRY_VOID(WriteFileBeneath(folder, stem + stage + ".spv", code.blob.bytes));
    ++files;
  }
  if (artifact.metadata.has_value()) {
    KILN_TRY_VOID(WriteFileBeneath(folder, stem + ".meta", artifact.metadata->bytes));
    ++files;
  }
  return files;
}

// Without a target the variant has one artifact for each target of the program, hence the loop.
Result<uint64_t> Extract(const PackExtractArguments& arguments) {
  KILN_TRY(const std::unique_ptr<pack::Pack> pack, OpenPack(arguments.file, arguments.bases));
  // All artifacts are read and checked before the first file is written, so damage leaves no half
  // of a set.
  KILN_TRY(const std::vector<PackedArtifact> artifacts,
           ArtifactsIn(*pack, arguments.program, arguments.options, arguments.target));
  uint64_t files = 0;
  for (const PackedArtifact& artifact : artifacts) {
    KILN_TRY(const uint64_t written, WriteArtifact(artifact, arguments.program, arguments.out));
    files += written;
  }
  return files;
}

}  // namespace

int RunPackExtract(const Global& global, const PackExtractArguments& arguments) {
  const Result<uint64_t> files = Extract(arguments);
  if (!files.ok()) {
    return FailPack(global, files.error());
  }
  if (!global.json && !global.quiet) {
    Print("{} files in {}\n", *files, arguments.out);
  }
  NoteResult("pack extract", 0, Counts{{"files", *files}});
  return kSuccess;
}

void AddPackExtract(CLI::App& pack, CommandLine& line) {
  const auto arguments = std::make_shared<PackExtractArguments>();
  CLI::App* extract =
      AddVerb(pack, line,
              {"extract", "Files of one variant",
               "  kiln pack extract demo.kpack rock/forward -o fog --out out\n  "
               "kiln pack extract demo.kpack rock/forward --out out"},
              [&line, arguments] { return RunPackExtract(line.global, *arguments); });
  extract->add_option("file", arguments->file, "Pack file")->required();
  AddBases(*extract, arguments->bases);
  extract->add_option("program", arguments->program, "Program of the pack")->required();
  extract->add_option("-o,--option", arguments->options, "NAME=VALUE; repeatable")->take_all();
  extract->add_option("-t,--target", arguments->target, "Target; default: all");
  extract->add_option("--out", arguments->out, "Folder for the files")->required();
}

}  // namespace kiln::cli
