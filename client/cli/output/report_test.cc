// SPDX-License-Identifier: MIT
// Reports as other tools read them.
#include "client/cli/output/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/base/printable.h"

namespace kiln::cli {
namespace {

ReportOf OneFailure() {
  ReportOf report{.project = "demo",
                  .batch = "7c1e",
                  .state = "DONE",
                  .exit = 1,
                  .seconds = 1.5,
                  .programs = {"sky", "rock/forward"},
                  .progress = {},
                  .failures = {}};
  PlacedDiagnostic diagnostic;
  diagnostic.code = "RPL6022";
  diagnostic.message = "operator '<' on 'f3' & 100%";
  diagnostic.primary = {
      .path = "a,b.rpl", .bytes = {}, .line = 3, .column = 5, .end_line = 3, .end_column = 9};
  report.failures.push_back(
      {.program = "rock/forward", .options = {}, .outcome = {}, .served = "4"});
  report.failures[0].outcome.diagnostics.push_back(diagnostic);
  return report;
}

// The same mistake of another program.
ReportOf TwoFailures() {
  ReportOf report = OneFailure();
  report.programs.emplace_back("a<b");
  report.failures.push_back(report.failures[0]);
  report.failures[1].program = "a<b";
  return report;
}

TEST(Report, Json_HasCountsAndEachMistakeOnce) {
  const auto object = nlohmann::json::parse(*ReportText("json", TwoFailures()));
  EXPECT_EQ(object["v"], 2);
  ASSERT_EQ(object["mistakes"].size(), 1u);
  EXPECT_EQ(object["mistakes"][0]["code"], "RPL6022");
  EXPECT_EQ(object["mistakes"][0]["programs"], (nlohmann::json{"a<b", "rock/forward"}));
  EXPECT_EQ(object["failures"].size(), 2u);
  EXPECT_EQ(object["failures"][0]["served"], "4");
}

TEST(Report, JUnit_EscapesAndCounts) {
  EXPECT_EQ(*ReportText("junit", TwoFailures()),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="kiln demo" tests="4" failures="1" errors="0" skipped="2" time="1.500">
    <testcase classname="demo" name="sky"/>
    <testcase classname="demo" name="rock/forward">
      <skipped message="see a,b.rpl:3:5 [RPL6022]"/>
    </testcase>
    <testcase classname="demo" name="a&lt;b">
      <skipped message="see a,b.rpl:3:5 [RPL6022]"/>
    </testcase>
    <testcase classname="demo" name="a,b.rpl:3:5 [RPL6022]">
      <failure type="RPL6022" message="operator '&lt;' on 'f3' &amp; 100%">a,b.rpl:3:5: operator '&lt;' on 'f3' &amp; 100% (in a&lt;b, rock/forward)</failure>
    </testcase>
  </testsuite>
</testsuites>
)");
}

// Well-formed UTF-8 that XML does not know (its rule Char), beside neighbours that it does.
TEST(Report, JUnit_NonCharactersAreSpelledOut) {
  ReportOf report = OneFailure();
  report.problem =
      "a\xef\xbf\xbe"
      "b\xef\xbf\xbf\xef\xbf\xbd";
  EXPECT_THAT(*ReportText("junit", report), testing::HasSubstr("\"a\\xef\\xbf\\xbe"
                                                               "b\\xef\\xbf\\xbf\xef\xbf\xbd\""));
}

TEST(Report, JUnit_ProgramThatFailsWithoutAMistake_Fails) {
  ReportOf report = OneFailure();
  report.failures[0].outcome = {.kind = client::OutcomeKind::kPoison};
  report.problem = "2 results are not kept: the disk is full";
  const std::string text = *ReportText("junit", report);
  EXPECT_THAT(text, testing::HasSubstr("tests=\"3\" failures=\"1\" errors=\"1\" skipped=\"0\""));
  EXPECT_THAT(text, testing::HasSubstr("<failure message=\"building it crashes the compiler\"/>"));
  EXPECT_THAT(text, testing::HasSubstr("<error message=\"2 results are not kept: "));
}

TEST(Report, GitHub_IsOneAnnotationPerMistake) {
  EXPECT_EQ(*ReportText("github", TwoFailures()),
            "::error file=a%2Cb.rpl,line=3,endLine=3,col=5,endColumn=9,title=RPL6022::operator '<' "
            "on 'f3' & 100%25 (in a<b, rock/forward)\n");
}

TEST(Report, Markdown_ListsMistakes) {
  EXPECT_THAT(*ReportText("md", TwoFailures()),
              testing::AllOf(testing::HasSubstr("## Mistakes\n\n- `a,b.rpl:3:5: error: operator"),
                             testing::HasSubstr("[RPL6022]` in a\\<b, rock/forward\n")));
}

// What a manifest or a daemon says cannot begin a line, colour a terminal or become HTML.
TEST(Report, TextOfOthers_StaysTextInEveryForm) {
  const std::string hostile = "x\x1b[31m\r\n::set-env name=A::b|<b>`c`\xe2\x80\xae\xc2\x9b";
  ReportOf report = OneFailure();
  report.project = report.state = report.problem = hostile;
  report.progress.variants_total = hostile;
  report.failures[0].program = hostile;
  PlacedDiagnostic& diagnostic = report.failures[0].outcome.diagnostics[0];
  diagnostic.primary.path = diagnostic.code = diagnostic.message = hostile;
  for (const char* const format : {"json", "junit", "github", "md"}) {
    const std::string text = *ReportText(format, report);
    EXPECT_EQ(PrintableLines(text), text) << format;
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("\n::set-env"))) << format;
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("\r"))) << format;
  }
  const std::string inside =
      "x\\x1b[31m\\x0d\\x0a::set-env name=A::b|<b>`c`\\xe2\\x80\\xae\\xc2\\x9b";
  const std::string escaped =
      "x\\\\x1b\\[31m\\\\x0d\\\\x0a::set-env "
      "name=A::b\\|\\<b\\>\\`c\\`\\\\xe2\\\\x80\\\\xae\\\\xc2\\\\x9b";
  EXPECT_THAT(*ReportText("md", report),
              testing::AllOf(testing::StartsWith("# kiln build " + escaped + "\n\n| | |\n"),
                             testing::HasSubstr("\n| state | " + escaped + " |\n"),
                             testing::HasSubstr("\n**" + escaped + "**\n"),
                             testing::HasSubstr("\n- ``" + inside + ":3:5: error: " + inside +
                                                " [" + inside + "]`` in " + escaped + "\n")));
}

TEST(Report, Problem_IsInEveryForm) {
  ReportOf report = OneFailure();
  report.problem = "the disk is full";
  for (const char* const format : {"json", "junit", "github", "md"}) {
    EXPECT_THAT(*ReportText(format, report), testing::HasSubstr("the disk is full")) << format;
    EXPECT_THAT(*ReportText(format, OneFailure()), testing::Not(testing::HasSubstr("disk")));
  }
}

TEST(Report, WrongFormat_IsRefused) {
  for (const char* text : {"xml:a", "json", "json:", ":a", ""}) {
    EXPECT_FALSE(CheckReports({text}).ok()) << text;
  }
  EXPECT_TRUE(CheckReports({"junit:a.xml", "md:b.md"}).ok());
}

}  // namespace
}  // namespace kiln::cli
