// SPDX-License-Identifier: MIT
// Metrics of the daemon for Prometheus (spec/daemon 13). All of them are named in one table. What
// happens is counted here; what other parts count is read at each scrape.
#include "server/ops/metrics.h"

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "compiler/base/check.h"
#include "compiler/base/mutex.h"

namespace kiln::ops {
namespace {

constexpr MetricKind kCounter = MetricKind::kCounter;
constexpr MetricKind kGauge = MetricKind::kGauge;
constexpr MetricKind kHistogram = MetricKind::kHistogram;

// Sorted by name. Columns: name, kind, help. A name never changes, since boards and alerts are
// written against it.
constexpr auto kTable = std::to_array<MetricRow>({
    {"kiln_auth_failures_total", kCounter, "Refused connections and tokens, by reason"},
    {"kiln_batch_active", kGauge, "Batches that are not finished"},
    {"kiln_batch_results_total", kCounter, "Distinct results of batches, by kind"},
    {"kiln_build_info", kGauge, "1, with version and build id as labels"},
    {"kiln_cache_bytes", kGauge, "Bytes of the cache, by level"},
    {"kiln_cache_collision_total", kCounter, "Keys that named two contents"},
    {"kiln_cache_commit_seconds", kHistogram, "Commits of groups of writes"},
    {"kiln_cache_corrupt_total", kCounter, "Damaged items that were found, by what"},
    {"kiln_cache_evicted_total", kCounter, "Records that were removed, by reason"},
    {"kiln_cache_group_size", kHistogram, "Writes that shared a commit"},
    {"kiln_cache_inflight_merged_total", kCounter, "Requests that waited for an equal one"},
    {"kiln_cache_lookups_total", kCounter, "Lookups, by level, result and cause"},
    {"kiln_cache_nondeterminism_total", kCounter, "Results that differed from their first build"},
    {"kiln_cache_records", kGauge, "Records of the cache, by level"},
    {"kiln_cache_refused_total", kCounter, "Writes that the cache did not take, by reason"},
    {"kiln_cache_wal_bytes", kGauge, "Bytes of the write-ahead log"},
    {"kiln_cpu_saved_seconds_total", kCounter, "CPU time that hits did not cost"},
    {"kiln_dedup_code_total", kCounter, "Modules that were equal to a known one"},
    {"kiln_dedup_variants_total", kCounter, "Variants that were served by the result of another"},
    {"kiln_health_state", kGauge, "1 for the state that the daemon is in"},
    {"kiln_internal_errors_total", kCounter, "Broken invariants"},
    {"kiln_limit_hits_total", kCounter, "Requests that exceeded a limit, by limit"},
    {"kiln_poison_total", kCounter, "Inputs that killed their worker three times, by cause"},
    {"kiln_pressure_ratio", kGauge,
     "Share of the last ten seconds that tasks stalled, by resource"},
    {"kiln_queue_length", kGauge, "Jobs that wait, by lane"},
    {"kiln_queue_wait_seconds", kHistogram, "How long jobs waited, by lane"},
    {"kiln_request_seconds", kHistogram, "Duration of calls, by method, code and lane"},
    {"kiln_requests_total", kCounter, "Calls, by method, code and lane"},
    {"kiln_running", kGauge, "Jobs that run, by lane"},
    {"kiln_stage_cpu_seconds_total", kCounter, "CPU time of the stages of compiling"},
    {"kiln_stage_seconds", kHistogram, "Duration of the stages of compiling"},
    {"kiln_upstream_requests_total", kCounter, "Requests to an upstream, by operation and result"},
    {"kiln_upstream_state", kGauge, "1 if the upstream answers"},
    {"kiln_watch_conflated_total", kCounter, "Events that a slow subscriber did not need any more"},
    {"kiln_watch_latency_seconds", kHistogram, "From a push to its artifact"},
    {"kiln_watch_sessions", kGauge, "Open watch sessions"},
    {"kiln_worker_restarts_total", kCounter, "Worker processes that were replaced, by cause"},
});

// From 50 µs to 100 s, about three per decade.
const prometheus::Histogram::BucketBoundaries& Seconds() {
  static const prometheus::Histogram::BucketBoundaries bounds = {
      0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
      0.1,     0.25,   0.5,     1,      2.5,   5,      10,    30,   100};
  return bounds;
}

const prometheus::Histogram::BucketBoundaries& Sizes() {
  static const prometheus::Histogram::BucketBoundaries bounds = {1,  2,  4,   8,   16,
                                                                 32, 64, 128, 256, 1024};
  return bounds;
}

prometheus::MetricType TypeOf(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return prometheus::MetricType::Counter;
    case MetricKind::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricKind::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  KILN_UNREACHABLE();
}

// The two series of one method, code and lane. Finding a series by its labels costs a map and
// several strings, so calls find it by a number instead.
struct RequestCell {
  prometheus::Counter& count;
  prometheus::Histogram& seconds;
};

}  // namespace

std::span<const MetricRow> MetricTable() { return kTable; }

// The slots are read without a lock on the way of every call. Cells are in a deque, because their
// addresses must not change.
struct Metrics::State {
  std::array<std::atomic<RequestCell*>, kRequestSlots> requests{};
  Mutex mutex;
  std::deque<RequestCell> cells KILN_GUARDED_BY(mutex);
  // By name and by value of the label.
  std::map<std::string_view, std::map<std::string, prometheus::Histogram*, std::less<>>> timed
      KILN_GUARDED_BY(mutex);
  prometheus::Registry registry;
  std::map<std::string_view, prometheus::Family<prometheus::Counter>*> counters;
  std::map<std::string_view, prometheus::Family<prometheus::Histogram>*> histograms;
  std::function<std::vector<Sample>()> read;
};

Metrics::Metrics() : state_(std::make_unique<State>()) {
  // Gauges have no family here: their values belong to other parts and are read at each scrape.
  for (const MetricRow& row : kTable) {
    const std::string name(row.name), help(row.help);
    if (row.kind == kCounter) {
      state_->counters[row.name] =
          &prometheus::BuildCounter().Name(name).Help(help).Register(state_->registry);
    } else if (row.kind == kHistogram) {
      state_->histograms[row.name] =
          &prometheus::BuildHistogram().Name(name).Help(help).Register(state_->registry);
    }
  }
}

Metrics::~Metrics() = default;

// A name that is not in the table throws here, in the first test that counts it. Takes the locks of
// the library and makes strings: for events that are rare. Frequent ones use Request and Time.
void Metrics::Count(std::string_view name, const Labels& labels, double by) {
  state_->counters.at(name)->Add({labels.begin(), labels.end()}).Increment(by);
}

void Metrics::Observe(std::string_view name, const Labels& labels, double value) {
  // Times and counts differ in their buckets. The suffix that the conventions of Prometheus ask for
  // says which one it is.
  state_->histograms.at(name)
      ->Add({labels.begin(), labels.end()}, name.ends_with("_seconds") ? Seconds() : Sizes())
      .Observe(value);
}

void Metrics::Observe(std::string_view name, const Labels& labels, Duration passed) {
  Observe(name, labels, std::chrono::duration<double>(passed).count());
}

// `slot` is a number below kRequestSlots for each combination of labels; `labels` is called once
// for each slot.
void Metrics::Request(size_t slot, Duration passed, const std::function<Labels()>& labels) {
  RequestCell* cell = state_->requests.at(slot).load(std::memory_order_acquire);
  if (cell == nullptr) {
    const Labels named = labels();
    const prometheus::Labels all(named.begin(), named.end());
    const MutexLock lock(state_->mutex);  // two threads make two cells of the same series at worst
    cell = &state_->cells.emplace_back(
        RequestCell{.count = state_->counters.at("kiln_requests_total")->Add(all),
                    .seconds = state_->histograms.at("kiln_request_seconds")->Add(all, Seconds())});
    // Release pairs with the acquire above: whoever sees the pointer sees the cell.
    state_->requests.at(slot).store(cell, std::memory_order_release);
  }
  cell->count.Increment();
  cell->seconds.Observe(std::chrono::duration<double>(passed).count());
}

void Metrics::Time(std::string_view name, const char* label, std::string_view value,
                   Duration passed) {
  const MutexLock lock(state_->mutex);
  // The map of strings is searched with a view, so what is measured often allocates only when a
  // label is new.
  auto& known = state_->timed[name];
  auto found = known.find(value);
  if (found == known.end()) {
    prometheus::Histogram& made =
        state_->histograms.at(name)->Add({{label, std::string(value)}}, Seconds());
    found = known.emplace(value, &made).first;
  }
  found->second->Observe(std::chrono::duration<double>(passed).count());
}

// Must be called before the first scrape, since nothing guards it.
void Metrics::OnScrape(std::function<std::vector<Sample>()> read) {
  state_->read = std::move(read);
}

std::string Metrics::Text() {
  // The text has every name of the table, in the order of names: a board or an alert that asks for
  // a series must find it on a daemon that has counted nothing yet.
  std::map<std::string, prometheus::MetricFamily> families;
  for (prometheus::MetricFamily& family : state_->registry.Collect()) {
    families[family.name] = std::move(family);
  }
  for (const MetricRow& row : kTable) {  // those that nothing was counted for yet, and gauges
    prometheus::MetricFamily& family = families[std::string(row.name)];
    family.name = row.name;
    family.help = row.help;
    family.type = TypeOf(row.kind);
  }
  if (state_->read != nullptr) {
    for (const Sample& sample : state_->read()) {
      prometheus::MetricFamily& family = families.at(std::string(sample.name));
      prometheus::ClientMetric metric;
      for (const auto& [key, value] : sample.labels) {
        metric.label.push_back({.name = key, .value = value});
      }
      metric.gauge.value = sample.value;  // the type of the family decides which one is written
      metric.counter.value = sample.value;
      metric.histogram.sample_count = sample.count;
      metric.histogram.sample_sum = sample.value;
      family.metric.push_back(std::move(metric));
    }
  }
  std::vector<prometheus::MetricFamily> sorted;
  sorted.reserve(families.size());
  for (auto& [name, family] : families) {
    sorted.push_back(std::move(family));
  }
  return prometheus::TextSerializer().Serialize(sorted);
}

}  // namespace kiln::ops
