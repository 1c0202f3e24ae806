// SPDX-License-Identifier: MIT
#include "runtime/graph/print_plan.h"

#include <fmt/format.h>

#include "runtime/graph/print/plan_text.h"

namespace kiln::graph {
namespace {

std::string MebibytesText(uint64_t bytes) {
  return fmt::format("{:.1f}MiB", static_cast<double>(bytes) / (1 << 20));
}

// One line for each barrier, in columns: reason, resource, from, to.
std::string EntryLine(const Plan& plan, const Declarations& rows, const BarrierEntry& entry) {
  const AccessRow& access = rows.accesses[entry.access];
  std::string line = fmt::format("    {:<11} {:<20} {} / {} -> {} / {}", ReasonName(entry.reason),
                                 rows.VersionName(access.version), StagesText(entry.src_stages),
                                 AccessesText(entry.src_accesses), StagesText(entry.dst_stages),
                                 AccessesText(entry.dst_accesses));
  // Most entries change no layout; the line is long enough without it.
  if (entry.old_layout != entry.new_layout) {
    line += fmt::format("  [{} -> {}]", LayoutName(entry.old_layout), LayoutName(entry.new_layout));
  }
  const PlanChain& chain = plan.chains[entry.chain];
  // Only of a chain with several cells it has to be said which cells are meant.
  if (chain.cells > 1) {
    const Box& cell = plan.cells[entry.cell];
    line += fmt::format("  mips {}+{} layers {}+{}", cell.mip, cell.mips, cell.layer, cell.layers);
  }
  return line + "\n";
}

std::string UsesText(const Declarations& rows, const Plan& plan, const Batch& batch) {
  std::string text;
  const auto append = [&](std::string_view word, uint32_t use) {
    const SemaphoreRow& row = rows.semaphore_uses[use];
    const std::string_view name = rows.SemaphoreName(row.semaphore);
    text +=
        fmt::format(", {} {}{}", word,
                    name.empty() ? fmt::format("semaphore {}", row.semaphore) : std::string(name),
                    row.value == 0 ? std::string() : fmt::format(" = {}", row.value));
  };
  // Waits first, as they come first in a submission.
  for (uint32_t i = 0; i < batch.waits; ++i) {
    append("waits for", plan.waits[batch.first_wait + i]);
  }
  for (uint32_t i = 0; i < batch.signals; ++i) {
    append("signals", plan.signals[batch.first_signal + i]);
  }
  return text;
}

std::string OrderText(const Plan& plan, const Graph& graph) {
  const Declarations& rows = graph.rows();
  std::string text = "order\n";
  size_t point = 0;
  uint32_t batch = kNone;
  // Barriers stand in the text where they are recorded, between the passes they separate, and so
  // the text reads like the command buffer.
  for (const PlanPass& pass : plan.order) {
    const int32_t position = plan.positions[pass.pass];
    // Host passes have no position and no batch.
    if (position >= 0 && pass.batch != batch) {
      batch = pass.batch;
      text += fmt::format("  batch {}{}\n", batch, UsesText(rows, plan, plan.batches[batch]));
    }
    // Points are sorted by position, so one counter walks along.
    if (position >= 0 && point < plan.points.size() &&
        plan.points[point].before == static_cast<uint32_t>(position)) {
      text += "  barrier\n";
      for (uint32_t i = 0; i < plan.points[point].entries; ++i) {
        text += EntryLine(plan, rows, plan.EntryAt(plan.points[point], i));
      }
      ++point;
    }
    text += fmt::format("  {:>4} {:<10} {}  ({})\n",
                        position < 0 ? std::string("host") : fmt::format("{}", position),
                        PassKindName(rows.passes[pass.pass].kind), rows.PassName(pass.pass),
                        WhyText(pass, graph));
  }
  // Culled passes come last, because they have no place in the order.
  for (const uint32_t pass : plan.culled) {
    text += fmt::format("       culled     {}\n", rows.PassName(pass));
  }
  return text;
}

std::string MemoryText(const Plan& plan, const Declarations& rows) {
  std::string text = "memory\n";
  for (uint32_t i = 0; i < plan.chains.size(); ++i) {
    const PlanChain& chain = plan.chains[i];
    if (chain.place == Place::kPacked) {
      text += fmt::format("  {:<24} class {} block {} {:>12} +{:<12} passes {} to {}\n",
                          rows.ChainName(i), chain.memory_class, chain.block, chain.offset,
                          chain.size, chain.first, chain.last);
    } else if (chain.place == Place::kTemporal || chain.place == Place::kHistory) {
      // Imports and rings are not the plan's memory and have no line.
      text += fmt::format("  {:<24} {} {}\n", rows.ChainName(i), chain.size,
                          chain.place == Place::kTemporal ? "kept for the next frame"
                          : chain.reset                   ? "history, reset"
                                                          : "history");
    }
  }
  return text;
}

}  // namespace

// Costs are left out of the printed plan, since they differ between runs and all else does not.
std::string PrintMetricsLine(const Plan& plan, const Graph& graph, const BuildCosts* costs) {
  const PlanMetrics& m = plan.metrics;
  constexpr uint32_t kSerial = (1U << 23) - 1;
  std::string line = fmt::format("graph f={} passes={}(-{})", graph.rows().frame & kSerial,
                                 plan.order.size(), m.culled);
  if (costs != nullptr) {
    line += costs->hit ? " plan=hit" : " plan=miss";
  }
  line +=
      fmt::format(" barriers={} needed={} chain={} alias=+{} mem={} peak={} eff={:.3f}", m.commands,
                  m.needed, m.chain, m.alias_added(), MebibytesText(m.all.allocated),
                  MebibytesText(m.all.peak_live), m.efficiency());
  if (costs != nullptr) {
    line += fmt::format(" ns/pass={:.0f} alloc={}", costs->ns_per_pass, costs->allocations);
  }
  return line;
}

std::string PrintPlan(const Plan& plan, const Graph& graph) {
  const PlanMetrics& m = plan.metrics;
  std::string text = OrderText(plan, graph) + MemoryText(plan, graph.rows());
  text += fmt::format(
      "metrics\n"
      "  barrier commands {} (lower bounds: this order {}, all orders {}; added by aliasing {})\n"
      "  entries {}, layout changes {}, reads without a barrier of their own {}\n"
      "  memory {} bytes (peak live {}, efficiency {:.3f}, without reuse {}, packer {})\n"
      "  temporal {} upload {} readback {} bytes\n"
      "{}\n",
      m.commands, m.needed, m.chain, m.alias_added(), m.entries, m.layout_changes, m.merged_reads,
      m.all.allocated, m.all.peak_live, m.efficiency(), m.all.no_reuse, m.packer, m.temporal_bytes,
      m.upload_bytes, m.readback_bytes, PrintMetricsLine(plan, graph));
  return text;
}

}  // namespace kiln::graph
