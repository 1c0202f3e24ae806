// SPDX-License-Identifier: MIT
#include "compiler/tool/layout_command.h"

#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include "compiler/base/printable.h"
#include "compiler/layout/cases/case_file.h"
#include "compiler/tool/compile_command.h"
#include "compiler/tool/read_sources.h"

namespace kiln::tool {
namespace {

int Complain(const Error& error, int exit_code) {
  fmt::print(stderr, "error: {}\n", PrintableMessage(error.context));
  return exit_code;
}

// What is wrong with single cases; the others have their answers.
int Finish(const std::vector<std::string>& errors, bool good) {
  for (const std::string& error : errors) {
    fmt::print(stderr, "error: {}\n", PrintableMessage(error));
  }
  return good && errors.empty() ? kSuccess : kWrongSource;
}

int Check(std::string_view text) {
  const Result<layout::CheckedCases> checked = layout::CheckCases(text);
  if (!checked.ok()) {
    return Complain(checked.error(), kWrongSource);
  }
  // A value may be missing on one side.
  const auto shown = [](const std::string& json) {
    return json.empty() ? "nothing" : PrintableJson(json);
  };
  for (const layout::CaseDifference& difference : checked->differences) {
    fmt::print("{}: expected {}, found {}\n", Printable(difference.path),
               shown(difference.expected), shown(difference.found));
  }
  return Finish(checked->errors, checked->differences.empty());
}

}  // namespace

int RunLayout(const LayoutArguments& arguments) {
  const std::vector<std::string> files{arguments.file};
  const Result<std::vector<SourceFile>> sources = ReadSources(files);
  if (!sources.ok()) {
    return Complain(sources.error(), kNoFile);
  }
  const std::string_view text = sources->front().text;
  // Checking prints differences alone; a case file that is right prints nothing.
  if (arguments.check) {
    return Check(text);
  }
  const Result<layout::AnsweredCases> answer =
      arguments.json ? layout::AnswerCases(text) : layout::DumpCases(text);
  if (!answer.ok()) {
    return Complain(answer.error(), kWrongSource);
  }
  // JSON is escaped as JSON, so that it still parses; text is made harmless for a terminal.
  fmt::print("{}", arguments.json ? PrintableJson(answer->text) : PrintableLines(answer->text));
  return Finish(answer->errors, true);
}

}  // namespace kiln::tool
