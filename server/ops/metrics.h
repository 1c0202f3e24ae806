// SPDX-License-Identifier: MIT
// What the daemon counts, as Prometheus text. One table has every name with its kind and meaning;
// names are API, and labels have bounded values. See spec/daemon 13.2
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/clock.h"

namespace kiln::ops {

enum class MetricKind : uint8_t { kCounter, kGauge, kHistogram };

struct MetricRow {
  std::string_view name;
  MetricKind kind;
  std::string_view help;
};

// Every name, sorted.
std::span<const MetricRow> MetricTable();

using Labels = std::vector<std::pair<std::string, std::string>>;

// A number that another part keeps, read when it is asked for.
struct Sample {
  std::string_view name;  // of the table
  Labels labels;
  double value = 0;    // of a histogram: the sum
  uint64_t count = 0;  // of a histogram only
};

// Safe from any thread.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Requires: the name is a counter, or a histogram, of the table.
  void Count(std::string_view name, const Labels& labels, double by = 1);
  void Observe(std::string_view name, const Labels& labels, double value);
  void Observe(std::string_view name, const Labels& labels, Duration passed);

  // A call in kiln_requests_total and kiln_request_seconds. The labels are asked for the first time
  // that a slot is used, because this is on the way of every call.
  static constexpr size_t kRequestSlots = 1024;
  void Request(size_t slot, Duration passed, const std::function<Labels()>& labels);

  // As Observe, for what is measured often: a histogram with one label of few values.
  // Requires: `name` is a literal.
  void Time(std::string_view name, const char* label, std::string_view value, Duration passed);

  // Asked at each scrape, from whatever thread scrapes. Set before the first one.
  void OnScrape(std::function<std::vector<Sample>()> read);

  // The text format, version 0.0.4; every name of the table is in it.
  std::string Text();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace kiln::ops
