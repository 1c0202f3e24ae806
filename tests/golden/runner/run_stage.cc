// SPDX-License-Identifier: MIT
// A stage is a row of the table below.
#include "tests/golden/runner/run_stage.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "compiler/diag/render.h"
#include "compiler/front/rpl/front.h"
#include "compiler/source/source_file.h"

namespace kiln::golden {
namespace {

struct StageRow {
  std::string_view name;
  Diagnosed<std::string> (*run)(const SourceFile& source);
};

Diagnosed<std::string> Lex(const SourceFile& source) { return rpl::DumpTokens(source, 0); }
Diagnosed<std::string> ParseTree(const SourceFile& source) { return rpl::DumpAst(source, 0); }
// Everything that is wrong with one source, and nothing else.
Diagnosed<std::string> Check(const SourceFile& source) {
  Diagnosed<ir::Module> module = rpl::Parse(source, {}, 0);
  return {.value = "", .diagnostics = std::move(module.diagnostics)};
}

constexpr auto kStages = std::to_array<StageRow>({
    {"lex", Lex},
    {"parse", ParseTree},
    {"check", Check},
});

std::string Report(const std::vector<Diagnostic>& diagnostics, const SourceFile& source) {
  SourceSet sources;
  sources.Add(source);
  const std::array<const SourceFile*, 1> modules{&source};
  return RenderReport(Place(diagnostics, modules), sources, {.colour = Colour::kOff}, 100);
}

}  // namespace

Result<std::string> RunStage(const GoldenCase& golden) {
  const auto row = std::ranges::find(kStages, golden.stage, &StageRow::name);
  if (row == kStages.end()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = golden.name + ": no stage is named '" + golden.stage + "'"};
  }
  if (!golden.words.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = golden.name + ": stage " + golden.stage + " takes no '" +
                            golden.words[0].first + "'"};
  }
  const SourceFile source(golden.input.filename().string(), golden.source);
  const Diagnosed<std::string> out = row->run(source);
  return out.value.value_or("") + Report(out.diagnostics, source);
}

}  // namespace kiln::golden
