// SPDX-License-Identifier: MIT
#include "server/ops/trace_export.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sys/stat.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/base/test_directory.h"

namespace kiln::ops {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using std::chrono::microseconds;
using std::chrono::seconds;

constexpr const char* kTrace = "0123456789abcdef0123456789abcdef";

CallTrace Call(std::string code = "OK", std::string parent = {}) {
  return {.id = kTrace,
          .parent = std::move(parent),
          .method = "Compile",
          .code = std::move(code),
          .at = seconds(1'700'000'000),
          .length = microseconds(900),
          .spans = {{.name = "queue", .start = microseconds(10), .length = microseconds(40)},
                    {.name = "run", .start = microseconds(50), .length = microseconds(800)}}};
}

const TraceResource kResource{.version = "1.2", .build_id = "b0", .instance = "7@here"};

class TraceExportTest : public testing::Test {
 protected:
  static std::vector<Json> LinesOf(const std::string& file) {
    std::ifstream stream(file);
    std::vector<Json> lines;
    for (std::string line; std::getline(stream, line);) {
      lines.push_back(Json::parse(line));  // throws, and fails the test, if it is none
    }
    return lines;
  }
  static Json Spans(const Json& line) {
    return line.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans");
  }
  std::unique_ptr<TraceExport> Open(const TraceExport::Limits& limits = {}) {
    return TraceExport::Open(path, kResource, log, limits).value();
  }

  TestDirectory directory;
  std::string folder = directory.path();
  std::string path = folder + "/deeper/traces.jsonl";
  RecordingLog log;
};

TEST_F(TraceExportTest, Call_IsARequestWithIdsNamesParentsAndTimes) {
  Open()->Add(Call("OK", "00f067aa0ba902b7"));
  const std::vector<Json> lines = LinesOf(path);
  ASSERT_EQ(lines.size(), 1u);
  const Json& of = lines[0].at("resourceSpans").at(0);
  std::map<std::string, std::string> attributes;
  for (const Json& attribute : of.at("resource").at("attributes")) {
    attributes[attribute.at("key")] = attribute.at("value").at("stringValue");
  }
  EXPECT_EQ(attributes, (std::map<std::string, std::string>{{"kiln.build_id", "b0"},
                                                            {"service.instance.id", "7@here"},
                                                            {"service.name", "kilnd"},
                                                            {"service.version", "1.2"}}));
  const Json spans = Spans(lines[0]);
  ASSERT_EQ(spans.size(), 3u);
  const std::string root = spans[0].at("spanId");
  std::set<std::string> ids;
  for (const Json& span : spans) {
    const std::string id = span.at("spanId");
    EXPECT_EQ(id.size(), 16u);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
    ids.insert(id);
    EXPECT_EQ(span.at("traceId"), kTrace);
    EXPECT_TRUE(span.at("startTimeUnixNano").is_string()) << "64 bits are text";
  }
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_EQ(spans[0].at("name"), "Compile");
  EXPECT_EQ(spans[0].at("kind"), 2);
  EXPECT_EQ(spans[0].at("parentSpanId"), "00f067aa0ba902b7");
  EXPECT_EQ(spans[0].at("startTimeUnixNano"), "1700000000000000000");
  EXPECT_EQ(spans[0].at("endTimeUnixNano"), "1700000000000900000");
  EXPECT_EQ(spans[0].at("status").at("code"), 1);
  EXPECT_EQ(spans[1].at("name"), "queue");
  EXPECT_EQ(spans[1].at("kind"), 1);
  EXPECT_EQ(spans[1].at("parentSpanId"), root);
  EXPECT_EQ(spans[1].at("startTimeUnixNano"), "1700000000000010000");
  EXPECT_EQ(spans[1].at("endTimeUnixNano"), "1700000000000050000");
  EXPECT_EQ(spans[2].at("name"), "run");
  EXPECT_EQ(spans[2].at("parentSpanId"), root);
}

TEST_F(TraceExportTest, FailedCallOfNobody_HasAStatusAndNoParent) {
  Open()->Add(Call("NOT_FOUND"));
  const Json spans = Spans(LinesOf(path).at(0));
  EXPECT_FALSE(spans[0].contains("parentSpanId"));
  EXPECT_EQ(spans[0].at("status").at("code"), 2);
  EXPECT_EQ(spans[0].at("status").at("message"), "NOT_FOUND");
}

TEST_F(TraceExportTest, CallsOfOneTrace_HaveSpansOfTheirOwn) {
  {
    const auto trace_export = Open();
    trace_export->Add(Call());
    trace_export->Add(Call());
  }
  const std::vector<Json> lines = LinesOf(path);
  ASSERT_EQ(lines.size(), 2u);
  std::set<std::string> ids;
  for (const Json& line : lines) {
    for (const Json& span : Spans(line)) {
      ids.insert(span.at("spanId"));
    }
  }
  EXPECT_EQ(ids.size(), 6u);
}

TEST_F(TraceExportTest, FileIsPrivate_AndFullOnesTakeTurns) {
  const std::string line = OtlpLine(kResource, Call(), 0);
  {
    const auto trace_export =
        Open({.file = {.max_bytes = 2 * line.size() + 10, .files = 3}, .waiting = 100});
    for (int i = 0; i < 9; ++i) {
      trace_export->Add(Call());
    }
  }
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
  EXPECT_EQ(LinesOf(path).size(), 1u);
  EXPECT_EQ(LinesOf(path + ".1").size(), 2u);
  EXPECT_EQ(LinesOf(path + ".2").size(), 2u);
  EXPECT_FALSE(fs::exists(path + ".3"));
}

TEST_F(TraceExportTest, MoreThanMayWait_IsDroppedAndToldOnce) {
  const auto trace_export = Open({.waiting = 0});
  for (int i = 0; i < 3; ++i) {
    trace_export->Add(Call());
  }
  EXPECT_EQ(trace_export->dropped(), 3u);
  EXPECT_EQ(log.Lines().size(), 1u);
}

TEST_F(TraceExportTest, FolderThatCannotBe_IsAnError) {
  std::ofstream(folder + "/file") << "x";
  const auto opened = TraceExport::Open(folder + "/file/traces.jsonl", kResource, log);
  EXPECT_FALSE(opened.ok());
}

}  // namespace
}  // namespace kiln::ops
