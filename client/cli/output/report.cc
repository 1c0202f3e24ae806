// SPDX-License-Identifier: MIT
// The reports of `kiln build --report FORMAT:FILE` (spec/cli 6.2). Each format is a function from
// the same ReportOf to a text, and each merges equal mistakes first. Texts come from sources and
// manifests of strangers, so every format escapes them in its own way.
#include "client/cli/output/report.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/output/report_escapes.h"
#include "client/cli/project/mistakes.h"
#include "compiler/base/files/file.h"
#include "compiler/base/printable.h"
#include "compiler/diag/render.h"
#include "compiler/diag/render_json.h"

namespace kiln::cli {
namespace {

constexpr size_t kMostPrograms = 20;  // of one mistake that are named in a text
constexpr std::array<std::string_view, 4> kFormats{"json", "junit", "github", "md"};

std::string PlaceText(const PlacedDiagnostic& diagnostic) {
  return diagnostic.primary.known()
             ? fmt::format("{}:{}:{}: ", diagnostic.primary.path, diagnostic.primary.line,
                           diagnostic.primary.column)
             : std::string();
}

std::string SeverityWord(const PlacedDiagnostic& diagnostic) {
  return diagnostic.severity == kiln::Severity::kError ? "error" : "warning";
}

// The same mistake reaches the report once for each variant that fails by it. The list merges them,
// so that a report is as long as the sources are wrong and not as the space is large.
std::vector<Mistake> MistakesOf(const ReportOf& report) {
  MistakeList list;
  for (const client::BatchItem& item : report.failures) {
    for (const PlacedDiagnostic& diagnostic : item.outcome.diagnostics) {
      (void)list.Add(item.program, diagnostic);
    }
  }
  return list.Sorted();
}

// "an internal limit was reached": for a result that failed although its sources are right.
std::string_view ReasonWithoutMistake(const client::BatchItem& item) {
  return item.outcome.kind == client::OutcomeKind::kLimit    ? "a limit was exceeded"
         : item.outcome.kind == client::OutcomeKind::kPoison ? "building it crashes the compiler"
                                                             : "there is no result";
}

// "v" is 2: mistakes are listed once, with their programs, which version 1 did not do.
std::string JsonReport(const ReportOf& report) {
  nlohmann::ordered_json failures = nlohmann::ordered_json::array();
  for (const client::BatchItem& item : report.failures) {
    nlohmann::ordered_json row{{"program", item.program}, {"served", item.served}};
    if (item.outcome.diagnostics.empty()) {
      // Mistakes are listed once below; a failure without one has its reason here.
      row["reason"] = ReasonWithoutMistake(item);
    }
    failures.push_back(std::move(row));
  }
  nlohmann::ordered_json mistakes = nlohmann::ordered_json::array();
  for (const Mistake& mistake : MistakesOf(report)) {
    nlohmann::ordered_json& row = mistakes.emplace_back(
        nlohmann::ordered_json::parse(RenderJson(mistake.diagnostic, *mistake.programs.begin())));
    row["programs"] = mistake.programs;
  }
  const client::BatchProgress& p = report.progress;
  const nlohmann::ordered_json object{{"v", 2},
                                      {"type", "report"},
                                      {"project", report.project},
                                      {"batch", report.batch},
                                      {"state", report.state},
                                      {"exit", report.exit},
                                      {"seconds", report.seconds},
                                      {"programs", report.programs},
                                      {"counts",
                                       {{"variants_total", p.variants_total},
                                        {"variants_served", p.variants_served},
                                        {"results", p.results_done},
                                        {"modules", p.code_distinct},
                                        {"compiled", p.compiled},
                                        {"hits", p.hit_memory + p.hit_local + p.hit_upstream},
                                        {"shared", p.shared},
                                        {"failed", p.failed},
                                        {"limited", p.limited},
                                        {"poisoned", p.poisoned},
                                        {"cpu_ms", p.cpu_ms},
                                        {"cpu_saved_ms", p.cpu_saved_ms}}},
                                      {"problem", report.problem},
                                      {"mistakes", mistakes},
                                      {"failures", failures}};
  // Indented by one, since a report is also opened by people; and clean, since a CI system may
  // print it into its log.
  return PrintableJson(object.dump(1)) + "\n";
}

// `inside` is finished XML; name and project are escaped here.
std::string Case(const ReportOf& report, std::string_view name, const std::string& inside) {
  return fmt::format("    <testcase classname=\"{}\" name=\"{}\"{}", XmlText(report.project),
                     XmlText(name), inside.empty() ? "/>\n" : ">\n" + inside + "    </testcase>\n");
}

// A test for each program, and one that fails for each mistake: those of the programs that have it
// are skipped.
// A CI system counts failures and shows each by its name. A mistake in a file that forty programs
// include would look like forty if each of the programs failed.
std::string JUnit(const ReportOf& report) {
  std::string cases;
  size_t failed = 0;
  size_t skipped = 0;
  const std::vector<Mistake> mistakes = MistakesOf(report);
  // Such a program has no mistake that could stand for it, so it fails itself. Both maps point into
  // the report, which outlives them.
  std::map<std::string_view, std::string_view> others;  // that failed without a mistake
  for (const client::BatchItem& item : report.failures) {
    if (item.outcome.diagnostics.empty()) {
      others.emplace(item.program, ReasonWithoutMistake(item));
    }
  }
  std::map<std::string_view, std::string> names;  // of a program's mistakes
  for (const Mistake& mistake : mistakes) {
    for (const std::string& program : mistake.programs) {
      std::string& text = names[program];
      text += (text.empty() ? "" : ", ") + MistakeName(mistake.diagnostic);
    }
  }
  for (const std::string& program : report.programs) {
    std::string inside;
    if (const auto reason = others.find(program); reason != others.end()) {
      inside = fmt::format("      <failure message=\"{}\"/>\n", XmlText(reason->second));
      ++failed;
    } else if (const auto name = names.find(program); name != names.end()) {
      inside = fmt::format("      <skipped message=\"see {}\"/>\n", XmlText(name->second));
      ++skipped;
    }
    cases += Case(report, program, inside);
  }
  for (const Mistake& mistake : mistakes) {
    const PlacedDiagnostic& diagnostic = mistake.diagnostic;
    cases += Case(report, MistakeName(diagnostic),
                  fmt::format("      <failure type=\"{}\" message=\"{}\">{}{} (in {})</failure>\n",
                              XmlText(diagnostic.code), XmlText(diagnostic.message),
                              XmlText(PlaceText(diagnostic)), XmlText(diagnostic.message),
                              XmlText(ProgramsText(mistake.programs, kMostPrograms))));
  }
  // The attributes of the suite must agree with the cases below it; some readers refuse the file
  // otherwise. An error is a problem of the build and no failure of a test.
  failed += mistakes.size();
  if (!report.problem.empty()) {
    cases += Case(report, "build",
                  fmt::format("      <error message=\"{}\"/>\n", XmlText(report.problem)));
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"kiln {}\" "
      "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n{}  "
      "</testsuite>\n</testsuites>\n",
      XmlText(report.project),
      report.programs.size() + mistakes.size() + (report.problem.empty() ? 0 : 1), failed,
      report.problem.empty() ? 0 : 1, skipped, report.seconds, cases);
}

// One annotation a mistake, placed where it is in the source; the programs stand behind the
// message.
std::string GitHub(const ReportOf& report) {
  std::string text;
  if (!report.problem.empty()) {
    text += fmt::format("::error title=kiln build::{}\n", AnnotationText(report.problem));
  }
  for (const Mistake& mistake : MistakesOf(report)) {
    text += GitHubAnnotation(mistake.diagnostic,
                             fmt::format(" (in {})", ProgramsText(mistake.programs)));
  }
  return text;
}

// For the summary page of a CI run. Names and messages are escaped, since they come from sources
// and manifests.
std::string Markdown(const ReportOf& report) {
  const client::BatchProgress& p = report.progress;
  std::string text = fmt::format(
      "# kiln build {}\n\n| | |\n|---|---|\n| state | {} |\n| programs | {} |\n| variants | {} of "
      "{} |\n| distinct results | {} |\n| SPIR-V modules | {} |\n| compiled | {} |\n| cached | {} "
      "|\n| failed | {} |\n| seconds | {:.2f} |\n",
      MarkdownText(report.project), MarkdownText(report.state), report.programs.size(),
      MarkdownText(p.variants_served), MarkdownText(p.variants_total), p.results_done,
      p.code_distinct, p.compiled, p.hit_memory + p.hit_local + p.hit_upstream,
      p.failed + p.limited + p.poisoned, report.seconds);
  if (!report.problem.empty()) {
    text += fmt::format("\n**{}**\n", MarkdownText(report.problem));
  }
  const std::vector<Mistake> mistakes = MistakesOf(report);
  text += mistakes.empty() ? "" : "\n## Mistakes\n\n";
  for (const Mistake& mistake : mistakes) {
    const PlacedDiagnostic& diagnostic = mistake.diagnostic;
    text += fmt::format(
        "- {} in {}\n",
        MarkdownCode(fmt::format("{}{}: {} [{}]", PlaceText(diagnostic), SeverityWord(diagnostic),
                                 diagnostic.message, diagnostic.code)),
        MarkdownText(ProgramsText(mistake.programs, kMostPrograms)));
  }
  return text;
}

// FORMAT and FILE.
// The first colon divides, so the name of the file may have colons itself.
Result<std::pair<std::string, std::string>> Split(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string format = text.substr(0, colon);
  if (colon == std::string::npos || colon + 1 == text.size() ||
      std::ranges::find(kFormats, format) == kFormats.end()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = fmt::format(
                     "--report '{}' is not FORMAT:FILE with json, junit, github or md", text),
                 .reason = "USAGE"};
  }
  return std::pair(format, text.substr(colon + 1));
}

}  // namespace

// The order of properties is the one of GitHub's documentation. A diagnostic without a place is
// still shown, on the page of the run.
std::string GitHubAnnotation(const PlacedDiagnostic& diagnostic, const std::string& where) {
  std::string text = fmt::format("::{} ", SeverityWord(diagnostic));
  if (diagnostic.primary.known()) {
    text += fmt::format("file={},line={},endLine={},col={},endColumn={},",
                        AnnotationProperty(diagnostic.primary.path), diagnostic.primary.line,
                        diagnostic.primary.end_line, diagnostic.primary.column,
                        diagnostic.primary.end_column);
  }
  return text + fmt::format("title={}::{}{}\n", AnnotationProperty(diagnostic.code),
                            AnnotationText(diagnostic.message), AnnotationText(where));
}

// The formats are checked by Split as well. A caller that skips it gets an error and not an empty
// report.
Result<std::string> ReportText(const std::string& format, const ReportOf& report) {
  if (format == "json") {
    return JsonReport(report);
  }
  if (format == "junit") {
    return JUnit(report);
  }
  if (format == "github") {
    return GitHub(report);
  }
  if (format == "md") {
    return Markdown(report);
  }
  return Error{.code = ErrorCode::kInvalidArgument,
               .context = fmt::format("'{}' is no format of reports", format),
               .reason = "USAGE"};
}

// Asked before the build begins: a misspelt format is not to be found after an hour of compiling.
Result<void> CheckReports(const std::vector<std::string>& reports) {
  for (const std::string& text : reports) {
    KILN_TRY_VOID(Split(text));
  }
  return {};
}

// A report that cannot be written ends the loop: the error names it, and those before it are there.
Result<void> WriteReports(const std::vector<std::string>& reports, const ReportOf& report) {
  for (const std::string& text : reports) {
    KILN_TRY(const auto split, Split(text));
    KILN_TRY(const std::string content, ReportText(split.first, report));
    KILN_TRY_VOID(WriteFile(split.second, AsBytes(content)));
  }
  return {};
}

}  // namespace kiln::cli
