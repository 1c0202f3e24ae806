// SPDX-License-Identifier: MIT
#include "server/ops/metrics.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace kiln::ops {
namespace {

TEST(MetricTable, IsSortedAndNamedByTheRules) {
  std::string_view last;
  for (const MetricRow& row : MetricTable()) {
    EXPECT_LT(last, row.name);
    last = row.name;
    EXPECT_TRUE(row.name.starts_with("kiln_")) << row.name;
    EXPECT_EQ(row.name.ends_with("_total"), row.kind == MetricKind::kCounter) << row.name;
    EXPECT_FALSE(row.help.empty());
  }
}

TEST(Metrics, Text_HasEveryNameWithItsType) {
  Metrics metrics;
  const std::string text = metrics.Text();
  for (const MetricRow& row : MetricTable()) {
    const char* type = row.kind == MetricKind::kCounter ? "counter"
                       : row.kind == MetricKind::kGauge ? "gauge"
                                                        : "histogram";
    EXPECT_NE(text.find("# TYPE " + std::string(row.name) + " " + type + "\n"), std::string::npos)
        << row.name;
  }
}

TEST(Metrics, WhatIsCounted_IsShown) {
  Metrics metrics;
  metrics.Count("kiln_limit_hits_total", {{"limit", "sources"}}, 2);
  metrics.Observe("kiln_queue_wait_seconds", {{"lane", "batch"}}, std::chrono::milliseconds(3));
  metrics.Time("kiln_stage_seconds", "stage", "emit", std::chrono::milliseconds(1));
  metrics.Time("kiln_stage_seconds", "stage", "emit", std::chrono::milliseconds(1));
  const auto labels = [] {
    return Labels{{"method", "Compile"}, {"code", "OK"}, {"lane", "interactive"}};
  };
  metrics.Request(7, std::chrono::milliseconds(2), labels);
  metrics.Request(7, std::chrono::milliseconds(2), [] { return Labels{}; });  // not asked again
  metrics.OnScrape([] {
    return std::vector<Sample>{
        {.name = "kiln_queue_length", .labels = {{"lane", "batch"}}, .value = 4},
        {.name = "kiln_cache_evicted_total", .labels = {{"reason", "x"}}, .value = 5},
        {.name = "kiln_cache_commit_seconds", .labels = {}, .value = 0.5, .count = 6}};
  });
  const std::string text = metrics.Text();
  for (const char* line : {
           "kiln_stage_seconds_count{stage=\"emit\"} 2\n",
           "kiln_limit_hits_total{limit=\"sources\"} 2\n",
           "kiln_queue_wait_seconds_count{lane=\"batch\"} 1\n",
           "kiln_queue_wait_seconds_bucket{lane=\"batch\",le=\"0.0025\"} 0\n",
           "kiln_queue_wait_seconds_bucket{lane=\"batch\",le=\"0.005\"} 1\n",
           "kiln_requests_total{code=\"OK\",lane=\"interactive\",method=\"Compile\"} 2\n",
           "kiln_queue_length{lane=\"batch\"} 4\n",
           "kiln_cache_evicted_total{reason=\"x\"} 5\n",
           "kiln_cache_commit_seconds_count 6\n",
           "kiln_cache_commit_seconds_sum 0.5\n",
       }) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
  }
}

}  // namespace
}  // namespace kiln::ops
