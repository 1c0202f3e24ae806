// SPDX-License-Identifier: MIT
#include "compiler/tool/layout_command.h"

#include <cstdio>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "compiler/layout/cases/case_file.h"
#include "compiler/tool/compile_command.h"
#include "compiler/tool/read_sources.h"

namespace kiln::tool {
namespace {

int Complain(const Error& error, int exit_code) {
  fmt::print(stderr, "error: {}\n", error.context);
  return exit_code;
}

int Check(std::string_view text) {
  const Result<std::vector<layout::CaseDifference>> differences = layout::CheckCases(text);
  if (!differences.ok()) {
    return Complain(differences.error(), kWrongSource);
  }
  const auto shown = [](const std::string& json) { return json.empty() ? "nothing" : json; };
  for (const layout::CaseDifference& difference : *differences) {
    fmt::print("{}: expected {}, found {}\n", difference.path, shown(difference.expected),
               shown(difference.found));
  }
  return differences->empty() ? kSuccess : kWrongSource;
}

}  // namespace

int RunLayout(const LayoutArguments& arguments) {
  const std::vector<std::string> files{arguments.file};
  const Result<std::vector<SourceFile>> sources = ReadSources(files);
  if (!sources.ok()) {
    return Complain(sources.error(), kNoFile);
  }
  const std::string_view text = sources->front().text;
  if (arguments.check) {
    return Check(text);
  }
  const Result<std::string> answer =
      arguments.json ? layout::AnswerCases(text) : layout::DumpCases(text);
  if (!answer.ok()) {
    return Complain(answer.error(), kWrongSource);
  }
  std::fwrite(answer->data(), 1, answer->size(), stdout);
  return kSuccess;
}

}  // namespace kiln::tool
