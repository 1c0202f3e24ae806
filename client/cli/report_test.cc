// SPDX-License-Identifier: MIT
// Reports as other tools read them.
#include "client/cli/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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

TEST(Report, Json_HasCountsAndDiagnostics) {
  const auto object = nlohmann::json::parse(*ReportText("json", OneFailure()));
  EXPECT_EQ(object["v"], 1);
  EXPECT_EQ(object["failures"][0]["diagnostics"][0]["code"], "RPL6022");
  EXPECT_EQ(object["failures"][0]["served"], "4");
}

TEST(Report, JUnit_EscapesAndCounts) {
  EXPECT_EQ(*ReportText("junit", OneFailure()),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="kiln demo" tests="2" failures="1" time="1.500">
    <testcase classname="demo" name="sky"/>
    <testcase classname="demo" name="rock/forward">
      <failure type="RPL6022" message="operator '&lt;' on 'f3' &amp; 100%">a,b.rpl:3:5: operator '&lt;' on 'f3' &amp; 100%</failure>
    </testcase>
  </testsuite>
</testsuites>
)");
}

TEST(Report, GitHub_IsOneAnnotationPerDiagnostic) {
  EXPECT_EQ(*ReportText("github", OneFailure()),
            "::error file=a%2Cb.rpl,line=3,endLine=3,col=5,endColumn=9,title=RPL6022::operator '<' "
            "on 'f3' & 100%25 (in rock/forward, 4 variants)\n");
}

TEST(Report, Markdown_ListsFailures) {
  EXPECT_THAT(*ReportText("md", OneFailure()),
              testing::HasSubstr("## rock/forward\n\n- `a,b.rpl:3:5: error: operator"));
}

TEST(Report, WrongFormat_IsRefused) {
  for (const char* text : {"xml:a", "json", "json:", ":a", ""}) {
    EXPECT_FALSE(CheckReports({text}).ok()) << text;
  }
  EXPECT_TRUE(CheckReports({"junit:a.xml", "md:b.md"}).ok());
}

}  // namespace
}  // namespace kiln::cli
