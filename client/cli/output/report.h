// SPDX-License-Identifier: MIT
// What came of a batch as a file for other tools: JSON, JUnit, annotations of GitHub, Markdown.
// See spec/cli 6.2.2
#pragma once

#include <string>
#include <vector>

#include "client/types.h"
#include "compiler/base/result.h"

namespace kiln::cli {

struct ReportOf {
  std::string project;
  std::string batch;  // id, hex
  std::string state;  // DONE, …
  int exit = 0;
  double seconds = 0;
  std::vector<std::string> programs;
  client::BatchProgress progress;
  std::vector<client::BatchItem> failures;
  std::string problem;  // why the build is not well, beside what failed; or empty
};

// One annotation of GitHub's workflows, with a line end; `where` stands behind the message.
std::string GitHubAnnotation(const PlacedDiagnostic& diagnostic, const std::string& where);

// `format`: json, junit, github or md. Errors: kInvalidArgument for another one.
Result<std::string> ReportText(const std::string& format, const ReportOf& report);

// "FORMAT:FILE" each. Errors: kInvalidArgument, and as WriteFile.
Result<void> CheckReports(const std::vector<std::string>& reports);
Result<void> WriteReports(const std::vector<std::string>& reports, const ReportOf& report);

}  // namespace kiln::cli
