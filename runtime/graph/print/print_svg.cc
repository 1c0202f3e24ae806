// SPDX-License-Identifier: MIT
// A picture of the plan. Above: passes from left to right, resources from top to bottom, accesses
// as marks on the bar of a lifetime, barrier commands as red lines. Below: bytes over passes.
#include "runtime/graph/print/print_svg.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "runtime/graph/print/plan_text.h"
#include "runtime/graph/print_plan.h"

namespace kiln::graph {
namespace {

// Sizes in pixels: room for names on the left, one column for each pass, one row for each resource.
constexpr double kLeft = 190;
constexpr double kRight = 80;         // the last pass's name leans over
constexpr uint32_t kMinColumns = 13;  // the caption is as wide
constexpr double kHeader = 150;
constexpr double kColumn = 34;
constexpr double kRow = 20;
constexpr double kMemoryHeight = 260;
constexpr size_t kPassCharacters = 24;
constexpr size_t kRowCharacters = 28;  // of a resource and what it is

// Names come from programs and may hold anything; a line end is kept, because titles have several
// lines.
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  }
  return out;
}

// At most `limit` characters of UTF-8. What is longer ends in dots; titles have all of it.
std::string Shortened(std::string_view text, size_t limit) {
  size_t characters = 0;
  size_t last = 0;  // where the last character that fits begins
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) {
      continue;  // within a character
    }
    // One character before the limit is where the dots would go; the cut is made only if something
    // comes behind it.
    if (++characters == limit) {
      last = i;
    } else if (characters > limit) {
      return std::string(text.substr(0, last)) + "…";
    }
  }
  return std::string(text);
}

std::string BytesText(uint64_t bytes) {
  if (bytes < 1 << 20) {
    // Small sizes would print as zero in megabytes.
    return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  }
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

// Distinct, light, and the same for a chain in both halves.
// 137 is prime to 360 and far from its simple fractions, so neighbours get hues that differ.
std::string ColorOf(uint32_t chain) {
  const double hue = static_cast<double>((chain * 137U) % 360U);
  // The lightness changes a little as well, for neighbours whose hues come near.
  return fmt::format("hsl({:.0f},55%,{}%)", hue, 72 - (chain % 3) * 6);
}

std::string_view PassColor(PassKind kind) {
  switch (kind) {
    // Darker than in the graph, because these are the colours of texts on white.
    case PassKind::kGraphics:
      return "#2c6fa8";
    case PassKind::kCompute:
      return "#4f8a2c";
    case PassKind::kTransfer:
      return "#b07818";
    case PassKind::kHost:
      return "#7a4aa0";
    case PassKind::kTransition:
      return "#777777";
  }
  return "#000000";
}

struct Picture {
  const Plan& plan;
  const Declarations& rows;
  std::string out = {};
  double memory_top = 0;

  // Positions may be fractions: marks stand in the middle of a column, barriers between two.
  double X(double position) const { return kLeft + position * kColumn; }
  double Width() const { return X(std::max(plan.device_passes(), kMinColumns)) + kRight; }
  void Text(double x, double y, std::string_view attributes, std::string_view text) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes,
                       Escaped(text));
  }
  void Rect(double x, double y, double width, double height, std::string_view attributes,
            std::string_view title) {
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}><title>{}</title>"
        "</rect>\n",
        x, y, width, height, attributes, Escaped(title));
  }
  void Bands(double height);
  void Passes();
  double Resources();
  void Accesses(uint32_t chain, double y);
  void Barriers(double bottom);
  void Memory();
  void Caption(double y);
};

void Picture::Bands(double height) {
  for (size_t i = 0; i < plan.batches.size(); ++i) {
    const Batch& batch = plan.batches[i];
    // Bands are drawn first and therefore lie behind everything.
    const double width = (batch.last - batch.first + 1) * kColumn;
    Rect(X(batch.first), kHeader - 20, width, height - kHeader + 20,
         i % 2 == 0 ? "fill=\"#f6f6f6\"" : "fill=\"#ebeff3\"", fmt::format("batch {}", i));
    Text(X(batch.first) + 3, kHeader - 8, "font-size=\"9\" fill=\"#888\"",
         fmt::format("batch {}", i));
  }
}

void Picture::Passes() {
  for (uint32_t p = 0; p < plan.device_passes(); ++p) {
    const uint32_t pass = plan.PassAt(p);
    const double x = X(p + 0.6);
    // Names lean, so that long ones do not need wide columns.
    Text(x, kHeader - 24,
         fmt::format("font-size=\"11\" fill=\"{}\" transform=\"rotate(-55 {:.1f} {:.1f})\"",
                     PassColor(rows.passes[pass].kind), x, kHeader - 24),
         Shortened(rows.PassName(pass), kPassCharacters));
  }
}

void Picture::Accesses(uint32_t chain, double y) {
  const PlanChain& row = plan.chains[chain];
  for (uint32_t i = row.first_access; i < row.first_access + row.accesses; ++i) {
    const AccessRow& access = rows.accesses[plan.chain_accesses[i]];
    const int32_t position = plan.positions[access.pass];
    // A culled pass has no column.
    if (position < 0) {
      continue;
    }
    const bool read = access.op == Op::kRead;
    // A write is shown by what it makes, a read by what it reads.
    const std::string title = fmt::format("{} {} in {}: {} / {}", read ? "read" : "write",
                                          rows.VersionName(read ? access.version : access.result),
                                          rows.PassName(access.pass), StagesText(access.stages),
                                          AccessesText(access.accesses));
    const char* fill = read ? "fill=\"#ffffff\" stroke=\"#345\" stroke-width=\"1.2\""
                            : "fill=\"#334455\" stroke=\"#334455\" stroke-width=\"1.2\"";
    out +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" {}><title>{}</title></circle>\n",
                    X(position + 0.5), y + kRow / 2, fill, Escaped(title));
  }
}

double Picture::Resources() {
  double y = kHeader;
  for (uint32_t i = 0; i < plan.chains.size(); ++i) {
    const PlanChain& chain = plan.chains[i];
    // No row for what the plan has no use for.
    if (chain.place == Place::kNowhere) {
      continue;
    }
    const std::string_view kind = chain.place == Place::kImported   ? " (import)"
                                  : chain.place == Place::kHistory  ? " (history)"
                                  : chain.place == Place::kTemporal ? " (kept)"
                                  : chain.place == Place::kRing     ? " (host)"
                                                                    : "";
    Text(kLeft - 8, y + 14, "font-size=\"11\" text-anchor=\"end\" fill=\"#222\"",
         fmt::format("{}{}", Shortened(rows.ChainName(i), kRowCharacters - kind.size()), kind));
    if (chain.first >= 0) {
      // Only packed resources share memory and appear below, so only they are drawn solid.
      const bool packed = chain.place == Place::kPacked;
      Rect(X(chain.first) + 2, y + 3, (chain.last - chain.first + 1) * kColumn - 4, kRow - 6,
           fmt::format("rx=\"3\" fill=\"{}\" fill-opacity=\"{}\" stroke=\"#999\"{}", ColorOf(i),
                       packed ? "0.9" : "0.35", packed ? "" : " stroke-dasharray=\"3 2\""),
           fmt::format("{}: passes {} to {}", rows.ChainName(i), chain.first, chain.last));
    }
    Accesses(i, y);
    y += kRow;
  }
  return y;
}

void Picture::Barriers(double bottom) {
  for (const BarrierPoint& point : plan.points) {
    std::string title = fmt::format("{} entries before {}", point.entries,
                                    rows.PassName(plan.PassAt(point.before)));
    // The title has all entries, so the line itself stays thin.
    for (uint32_t i = 0; i < point.entries; ++i) {
      const BarrierEntry& entry = plan.EntryAt(point, i);
      title += fmt::format("\n{} {}", ReasonName(entry.reason), rows.ChainName(entry.chain));
    }
    const double x = X(point.before);
    out += fmt::format(
        "<g stroke=\"#d02020\"><line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" "
        "stroke-width=\"1.6\"/><title>{3}</title></g>\n",
        x, kHeader - 2, bottom, Escaped(title));
    Text(x, bottom + 11, "font-size=\"9\" text-anchor=\"middle\" fill=\"#d02020\"",
         fmt::format("{}", point.entries));
  }
}

void Picture::Memory() {
  // At least one byte, as it is divided by.
  const uint64_t total = std::max<uint64_t>(plan.metrics.all.allocated, 1);
  // The classes lie above one another, each as high as its highest address, since each has memory
  // of its own.
  std::vector<uint64_t> bases(plan.next.classes.size() + 1, 0);
  for (const PlanChain& chain : plan.chains) {
    if (chain.place == Place::kPacked) {
      bases[chain.memory_class + 1] =
          std::max(bases[chain.memory_class + 1], chain.address + chain.size);
    }
  }
  for (size_t i = 1; i < bases.size(); ++i) {
    bases[i] += bases[i - 1];
  }
  const double scale = kMemoryHeight / static_cast<double>(total);
  const auto y = [&](uint64_t address) {
    return memory_top + kMemoryHeight - static_cast<double>(address) * scale;
  };
  Rect(kLeft, memory_top, X(plan.device_passes()) - kLeft, kMemoryHeight,
       "fill=\"#fafafa\" stroke=\"#bbb\"", "memory");
  for (uint32_t i = 0; i < plan.chains.size(); ++i) {
    const PlanChain& chain = plan.chains[i];
    if (chain.place != Place::kPacked) {
      continue;
    }
    const uint64_t end = bases[chain.memory_class] + chain.address + chain.size;
    // What is smaller than a pixel is drawn as a line, so that nothing is invisible.
    const double height = std::max(static_cast<double>(chain.size) * scale, 0.8);
    const double width = (chain.last - chain.first + 1) * kColumn;
    Rect(X(chain.first) + 1, y(end), width - 2, height,
         fmt::format("fill=\"{}\" stroke=\"#666\" stroke-width=\"0.6\"", ColorOf(i)),
         fmt::format("{}: {} at {}", rows.ChainName(i), BytesText(chain.size), chain.address));
    // A name needs ten pixels of height, and 5.2 pixels a character at this size.
    if (height > 10) {
      Text(X(chain.first) + 4, y(end) + std::min(height - 2, 11.0), "font-size=\"9\" fill=\"#222\"",
           Shortened(rows.ChainName(i), static_cast<size_t>(width / 5.2)));
    }
  }
  // No packing can do with less than this line shows.
  const double peak = y(plan.metrics.all.peak_live);
  out += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#207020\" "
      "stroke-dasharray=\"5 3\"/>\n",
      kLeft, peak, X(plan.device_passes()), peak);
  Text(kLeft - 8, peak + 4, "font-size=\"10\" text-anchor=\"end\" fill=\"#207020\"",
       fmt::format("peak live {}", BytesText(plan.metrics.all.peak_live)));
  Text(kLeft - 8, memory_top - 4, "font-size=\"10\" text-anchor=\"end\" fill=\"#444\"",
       fmt::format("allocated {}", BytesText(plan.metrics.all.allocated)));
}

void Picture::Caption(double y) {
  const PlanMetrics& m = plan.metrics;
  Text(kLeft, y, "font-size=\"11\" fill=\"#222\"",
       fmt::format(
           "{} barrier commands (lower bounds: this order {}, all orders {}; added by aliasing {})",
           m.commands, m.needed, m.chain, m.alias_added()));
  Text(kLeft, y + 16, "font-size=\"11\" fill=\"#222\"",
       fmt::format("memory {} of {} without reuse, efficiency {:.3f}; {} passes, {} culled",
                   BytesText(m.all.allocated), BytesText(m.all.no_reuse), m.efficiency(),
                   plan.order.size(), m.culled));
}

}  // namespace

// The heights are needed before anything is drawn, because what comes first in the file lies behind
// everything else.
std::string PrintPlanSvg(const Plan& plan, const Graph& graph) {
  Picture picture{.plan = plan, .rows = graph.rows()};
  size_t shown = 0;
  for (const PlanChain& chain : plan.chains) {
    shown += chain.place == Place::kNowhere ? 0 : 1;
  }
  const double bottom = kHeader + static_cast<double>(shown) * kRow;
  picture.memory_top = bottom + 40;
  const double height = picture.memory_top + kMemoryHeight + 56;
  picture.Bands(bottom);
  picture.Passes();
  picture.Resources();
  picture.Barriers(bottom);
  picture.Memory();
  picture.Caption(picture.memory_top + kMemoryHeight + 22);
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
             "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\">\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
             picture.Width(), height) +
         picture.out + "</svg>\n";
}

// Picture and text in one file without any script, so that it opens everywhere and can be attached
// to a report.
std::string PrintPlanTimeline(const Plan& plan, const Graph& graph) {
  return fmt::format(
      "<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>frame</title></head>"
      "<body>\n{}<pre>{}</pre>\n</body></html>\n",
      PrintPlanSvg(plan, graph), Escaped(PrintPlan(plan, graph)));
}

}  // namespace kiln::graph
