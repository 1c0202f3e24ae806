// SPDX-License-Identifier: MIT
// Texts for others. Distinct pipelines are counted, not ids, for ids may share one. Names come from
// sources, so they are escaped wherever they are quoted.
#include "runtime/pipeline/pipelines/pipelines_metrics.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/pipeline/formats.h"

namespace kiln::runtime {
namespace {

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// A JSON string; the value of a label has the same escapes. Enough for names of pipelines and
// options; it is no general writer of JSON, and bytes that are no UTF-8 go through as they are.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// The word, or the number of a format that has none.
std::string FormatJson(VkFormat format) {
  const std::string word = FormatWord(format);
  return word.empty() ? fmt::format("{}", static_cast<int>(format)) : Quoted(word);
}

// Values are written as what they are (`true`, `3`, `"high"`), so that a reader need not know the
// option's type.
std::string OptionsJson(const std::vector<OptionSetting>& options) {
  std::vector<std::string> pairs;
  for (const OptionSetting& option : options) {
    const std::string value = std::visit(
        [](const auto& typed) {
          if constexpr (std::is_same_v<std::decay_t<decltype(typed)>, std::string>) {
            return Quoted(typed);
          } else {
            return fmt::format("{}", typed);
          }
        },
        option.value);
    pairs.push_back(fmt::format("{}:{}", Quoted(option.name), value));
  }
  return fmt::format("{{{}}}", fmt::join(pairs, ","));
}

std::string PassJson(const PassSignature& signature) {
  std::vector<std::string> colors;
  for (const VkFormat format : signature.color) {
    colors.push_back(FormatJson(format));
  }
  const std::string depth = signature.depth_stencil == VK_FORMAT_UNDEFINED
                                ? std::string()
                                : fmt::format(",\"depth\":{}", FormatJson(signature.depth_stencil));
  return fmt::format("{{\"color\":[{}]{},\"samples\":{},\"view_mask\":{}}}", fmt::join(colors, ","),
                     depth, static_cast<int>(signature.samples), signature.view_mask);
}

// Hints are written with their numbers, for whoever records a list of pipelines and makes it again.
std::string HintsJson(const std::vector<ImageHint>& hints) {
  std::vector<std::string> rows;
  rows.reserve(hints.size());
  for (const ImageHint& hint : hints) {
    rows.push_back(fmt::format("{{\"set\":{},\"binding\":{},\"sampler\":{},\"format\":{}}}",
                               hint.set, hint.binding, hint.sampler_class,
                               static_cast<int>(hint.format)));
  }
  return fmt::format("[{}]", fmt::join(rows, ","));
}

int64_t Microseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

// Text of one family after the other.
// The text form of Prometheus: a head for each family and then its values.
class Metrics {
 public:
  void Head(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    out_ += fmt::format("# HELP kiln_runtime_{} {}\n# TYPE kiln_runtime_{} {}\n", name, help, name,
                        type);
  }
  template <class T>
  void Value(T value, std::string_view labels = {}) {
    out_ += fmt::format("kiln_runtime_{}{} {}\n", name_,
                        labels.empty() ? std::string() : fmt::format("{{{}}}", labels), value);
  }
  template <class T>
  void One(std::string_view name, std::string_view type, std::string_view help, T value) {
    Head(name, type, help);
    Value(value);
  }
  void Histogram(std::string_view name, std::string_view help, const std::vector<double>& seconds) {
    // From what a driver needs for a cache hit up to what anybody would take for a hang.
    static constexpr std::array kBounds = {0.0001, 0.0005, 0.001, 0.005, 0.01,
                                           0.05,   0.1,    0.5,   1.0,   5.0};
    Head(name, "histogram", help);
    double sum = 0;
    for (const double value : seconds) {
      sum += value;
    }
    // Buckets are cumulative in this format, so each counts all that are not slower.
    for (const double bound : kBounds) {
      const auto below = std::ranges::count_if(seconds, [&](double v) { return v <= bound; });
      out_ += fmt::format("kiln_runtime_{}_bucket{{le=\"{}\"}} {}\n", name, bound, below);
    }
    out_ += fmt::format(
        "kiln_runtime_{0}_bucket{{le=\"+Inf\"}} {1}\nkiln_runtime_{0}_sum {2}\n"
        "kiln_runtime_{0}_count {1}\n",
        name, seconds.size(), sum);
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string_view name_;
  std::string out_;
};

// Gauges of states add up to the number of distinct pipelines. Every state has a line, with zero
// too: a series that comes and goes cannot be drawn.
void PrintStates(const PipelineStats& stats, Metrics& out) {
  out.Head("pipelines", "gauge", "Distinct pipelines by state");
  for (const auto& [state, count] : {std::pair<std::string_view, size_t>{"queued", stats.queued},
                                     {"ready", stats.ready},
                                     {"ready_fast", stats.ready_fast},
                                     {"failed", stats.failed},
                                     {"unsupported", stats.unsupported},
                                     {"quarantined", stats.quarantined}}) {
    out.Value(count, fmt::format("state=\"{}\"", state));
  }
  out.One("quarantined", "gauge", "Pipelines that killed a run or a child", stats.quarantined);
  out.One("modules", "gauge", "Distinct shader modules made", stats.modules);
  out.One("set_layouts", "gauge", "Descriptor set layouts", stats.set_layouts);
  out.One("pipeline_layouts", "gauge", "Pipeline layouts", stats.pipeline_layouts);
  out.One("pipelines_saved_total", "counter", "Pipelines that equal an earlier one", stats.saved);
  out.One("replaced_total", "counter", "Hot swaps", stats.replaced);
  out.One("cache_hits_total", "counter", "Creations that the driver's cache served",
          stats.cache_hits);
}

// Draws that waited and draws that were left out, each by the name of its pipeline.
void PrintHitches(const std::vector<Hitch>& hitches, Metrics& out) {
  for (const bool missing : {false, true}) {
    // Ordered by name, so that two prints of the same state are the same text.
    std::map<std::string_view, uint64_t> by_name;
    for (const Hitch& hitch : hitches) {
      by_name[hitch.name] += (hitch.kind == HitchKind::kMissing) == missing ? 1 : 0;
    }
    out.Head(missing ? "missing_total" : "hitches_total", "counter",
             missing ? "Draws whose pipeline was not ready" : "Draws that waited for a pipeline");
    for (const auto& [name, count] : by_name) {
      if (count > 0) {
        out.Value(count, fmt::format("pipeline={}", Quoted(name)));
      }
    }
  }
}

}  // namespace

// In the order of first use, because a warm start should build what is drawn first before the rest.
std::string WriteWarmList(const PipelinesState& state) {
  const MutexLock lock(state.mutex);
  std::map<uint64_t, const PipelineSlot*> drawn;  // by order
  for (uint32_t i = 0; i < state.slots.size(); ++i) {
    const PipelineSlot& slot = state.slots[{i}];
    // Pipelines without a variant, which were added by hand, cannot be named in a list.
    if (const uint64_t order = slot.order.load(); order != 0 && slot.options.has_value()) {
      drawn.emplace(order, &slot);
    }
  }
  std::string out;
  for (const auto& [order, slot] : drawn) {
    const Build& build = *slot->owner->build;
    const bool ready = build.State() == PipelineState::kReady;
    out += fmt::format(
        "{{\"program\":{},\"options\":{},\"pass\":{},\"creation_us\":{},\"first_use_us\":{},"
        "\"hints\":{}}}\n",
        Quoted(build.desc.name), OptionsJson(*slot->options), PassJson(build.desc.signature),
        ready ? Microseconds(build.creation) : 0, ready ? Microseconds(build.first_use.load()) : 0,
        HintsJson(build.hints));
  }
  return out;
}

// Copies of times and hitches come from the caller, so the lock is held only for what changes under
// it. Quantiles are of the pipelines that exist now and not of a window of time, as most are made
// once.
std::string PrintMetrics(PipelinesState& state, const PipelineStats& stats,
                         std::span<const PipelineTimes> all_times,
                         const std::vector<Hitch>& hitches) {
  Metrics out;
  PrintStates(stats, out);
  std::vector<double> creation, first_use;
  std::map<Hash128, bool> seen;  // ids may share a pipeline
  for (const PipelineTimes& times : all_times) {
    if (times.state == PipelineState::kReady && seen.emplace(times.key, true).second) {
      creation.push_back(Seconds(times.creation));
      if (times.first_use != Duration{}) {
        first_use.push_back(Seconds(times.first_use));
      }
    }
  }
  out.Histogram("creation_seconds", "Time of the driver's create calls", creation);
  out.Histogram("first_use_seconds", "Time of warm-up draws", first_use);
  PrintHitches(hitches, out);
  out.Head("queue_length", "gauge", "Pipelines that wait, by lane");
  const auto lengths = state.queue.Lengths();
  static constexpr std::array<std::string_view, kLanes> kNames = {"critical", "soon", "background"};
  for (size_t i = 0; i < kLanes; ++i) {
    out.Value(lengths[i], fmt::format("lane=\"{}\"", kNames[i]));
  }
  if (const auto file = state.cache == nullptr ? std::nullopt : state.cache->FileState()) {
    out.One("cache_file_bytes", "gauge", "Size of the driver's cache file", file->first);
    out.One("cache_file_age_seconds", "gauge", "Since it was written",
            std::max(0.0, Seconds(state.clock->UnixTime() - file->second)));
  }
  Duration total{}, creating{}, drawing{};
  {
    const MutexLock lock(state.mutex);
    // Only tickets that somebody has waited for have a report, so running starts are not in the
    // sums.
    for (const Ticket& ticket : state.tickets) {
      if (ticket.report) {
        total += ticket.report->progress.elapsed;
        creating += ticket.report->creation;
        drawing += ticket.report->first_use;
      }
    }
  }
  out.Head("warm_start_seconds", "gauge", "Warm starts: as they took, and sums over threads");
  out.Value(Seconds(total), "part=\"total\"");
  out.Value(Seconds(creating), "part=\"creation\"");
  out.Value(Seconds(drawing), "part=\"first_use\"");
  return out.Take();
}

}  // namespace kiln::runtime
