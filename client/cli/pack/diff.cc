// SPDX-License-Identifier: MIT
// `kiln pack diff` (spec/cli 6.10): what two packs differ in, program by program, from their tables
// alone.
#include "client/cli/pack/diff.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "cache/pack/unpack.h"
#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/output/units.h"
#include "client/cli/pack/files.h"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PackDiffArguments {
  std::vector<std::string> files;
  std::vector<std::string> bases;  // beside those in the folders of the files
};

int RunPackDiff(const Global& global, const PackDiffArguments& arguments) {
  const Result<std::unique_ptr<pack::Pack>> first = OpenPack(arguments.files[0], arguments.bases);
  // The second file is not opened if the first one failed, and its place takes the error of the
  // first. So there is one case of failure below.
  const Result<std::unique_ptr<pack::Pack>> second =
      first.ok() ? OpenPack(arguments.files[1], arguments.bases)
                 : Result<std::unique_ptr<pack::Pack>>(first.error());
  if (!second.ok()) {
    return FailPack(global, second.error());
  }
  // Blobs are compared by their ids, so no content is read. Two packs with equal programs differ in
  // nothing even if they are compressed in different ways.
  const pack::PackDifference difference = pack::Compare(**first, **second);
  // In the order of the kinds of pack::ProgramChange.
  constexpr std::array<std::string_view, 3> kKinds{"added", "removed", "changed"};
  for (const pack::ProgramChange& change : difference.programs) {
    const std::string_view kind = kKinds[static_cast<size_t>(change.kind)];
    if (global.json) {
      const Json object{{"v", 1},
                        {"type", "difference"},
                        {"kind", kind},
                        {"program", change.program},
                        {"target", change.target},
                        {"added", change.added},
                        {"removed", change.removed},
                        {"changed", change.changed}};
      PrintLine(object);
    } else {
      Print("{:<8} {:<32} {:<12} +{} -{} ~{}\n", kind, change.program, change.target, change.added,
            change.removed, change.changed);
    }
  }
  if (!global.json && !global.quiet) {
    Print("{} artifacts are equal; {} blobs ({}) are new, {} are gone\n",
          difference.equal_artifacts, difference.new_blobs, SizeText(difference.new_bytes),
          difference.gone_blobs);
  }
  // Different packs are an answer and no failure: the exit code is 0, and scripts read the counts.
  NoteResult("pack diff", 0,
             Counts{{"programs", difference.programs.size()},
                    {"equal_artifacts", difference.equal_artifacts},
                    {"new_blobs", difference.new_blobs},
                    {"new_bytes", difference.new_bytes},
                    {"gone_blobs", difference.gone_blobs}});
  return kSuccess;
}

}  // namespace

void AddPackDiff(CLI::App& pack, CommandLine& line) {
  const auto arguments = std::make_shared<PackDiffArguments>();
  CLI::App* diff =
      AddVerb(pack, line,
              {"diff", "What two packs differ in",
               "  kiln pack diff old.kpack new.kpack\n  kiln pack diff old.kpack new.kpack --json"},
              [&line, arguments] { return RunPackDiff(line.global, *arguments); });
  diff->add_option("files", arguments->files, "Pack files")->required()->expected(2);
  AddBases(*diff, arguments->bases);
}

}  // namespace kiln::cli
