// SPDX-License-Identifier: MIT
#include "tests/golden/runner/run_hlsl.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "compiler/diag/render.h"
#include "compiler/front/hlsl/preprocess/dump.h"
#include "compiler/front/hlsl/preprocess/preprocess.h"
#include "compiler/front/hlsl/syntax/dump.h"
#include "compiler/front/hlsl/syntax/parse.h"

namespace kiln::golden {
namespace {

struct Input {
  SourceFile root;
  SourceSet files;
  hlsl::Settings settings;
  bool lints = false;
};

Result<Input> ReadInput(const GoldenCase& golden) {
  Input input{.root = SourceFile(golden.input.filename().string(), golden.source)};
  for (const auto& [key, value] : golden.words) {
    if (key == "with") {
      KILN_TRY(std::string text, ReadBytes(golden.input.parent_path() / value));
      input.files.Add(SourceFile(value, std::move(text)));
    } else if (key == "lints") {
      input.lints = value == "true";
    } else if (key.starts_with("define.")) {
      input.settings.defines.push_back({.name = key.substr(7), .value = value});
    } else {
      KILN_TRY_VOID(hlsl::SetSetting(key, value, input.settings));
    }
  }
  return input;
}

std::string Report(std::vector<Diagnostic> found, const Input& input) {
  std::erase_if(found,
                [&](const Diagnostic& d) { return d.severity == Severity::kLint && !input.lints; });
  SortAndMerge(found);
  SourceSet set;
  set.Add(input.root);
  const std::vector<const SourceFile*> modules{&input.root};
  return RenderReport(Place(found, modules), set, {.colour = Colour::kOff}, 100);
}

}  // namespace

Result<std::string> RunHlsl(const GoldenCase& golden) {
  KILN_TRY(const Input input, ReadInput(golden));
  if (golden.stage == "lex") {
    return hlsl::DumpTokens(input.root);
  }
  const hlsl::PreprocessResult read = hlsl::Preprocess(input.root, input.files, input.settings, 0);
  if (golden.stage == "preprocess") {
    return hlsl::DumpPreprocessed(read.stream, input.root, input.files) +
           Report(read.diagnostics, input);
  }
  if (golden.stage != "parse" && golden.stage != "check") {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = fmt::format("{}: HLSL has no stage '{}'", golden.name, golden.stage)};
  }
  const std::vector<std::string_view> texts{input.root.text};
  const hlsl::syntax::ParseResult parsed =
      hlsl::syntax::Parse(read.stream, texts, input.settings.version, {}, read.diagnostics);
  std::vector<Diagnostic> found = read.diagnostics;
  found.insert(found.end(), parsed.diagnostics.begin(), parsed.diagnostics.end());
  const bool dumps = golden.stage == "parse" && !HasErrors(found);
  return (dumps ? hlsl::syntax::DumpAst(read.stream, parsed.ast) : "") + Report(found, input);
}

}  // namespace kiln::golden
