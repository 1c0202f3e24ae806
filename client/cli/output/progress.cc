// SPDX-License-Identifier: MIT
#include "client/cli/output/progress.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/output/results.h"
#include "compiler/base/printable.h"

namespace kiln::cli {
namespace {

// The figures are those of spec/cli 8.1 to 8.3.
constexpr std::chrono::milliseconds kQuietFor{300};  // nothing is shown for shorter work
constexpr std::chrono::milliseconds kBarEvery{100};
constexpr std::chrono::seconds kLineAfter{5};
constexpr std::chrono::seconds kLineEvery{30};
constexpr size_t kBarWidth = 20;
constexpr size_t kNarrowest = 60;
constexpr std::string_view kHideCursor = "\x1b[?25l";
constexpr std::string_view kShowCursor = "\x1b[?25h";

// Asked each time instead of on SIGWINCH: it is one system call for each bar, and a handler less.
size_t Columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Set while the cursor is hidden, so that a signal that ends the program shows it again.
volatile std::sig_atomic_t cursor_hidden = 0;

// The default action is taken again after the terminal is in order, so the exit status is that of
// the signal.
void OnDeath(int signal) {
  RestoreTerminal();
  (void)std::signal(signal, SIG_DFL);
  (void)std::raise(signal);
}

double Number(const std::string& decimal) { return std::strtod(decimal.c_str(), nullptr); }

double Fraction(const client::BatchProgress& progress) {
  // Counts of variants are decimal texts of any length. As doubles they lose digits that no bar
  // shows.
  const double total = Number(progress.variants_total);
  return total <= 0 ? 0 : std::min(1.0, Number(progress.variants_served) / total);
}

uint64_t Failed(const client::BatchProgress& progress) {
  return progress.failed + progress.limited + progress.poisoned;
}

// "61,440"
std::string Grouped(const std::string& decimal) {
  std::string text;
  for (size_t i = 0; i < decimal.size(); ++i) {
    if (i != 0 && (decimal.size() - i) % 3 == 0) {
      text += ',';
    }
    text += decimal[i];
  }
  return text;
}

// "3 m 12 s"
std::string TimeText(uint64_t ms) {
  if (ms < 60'000) {
    return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
  }
  return fmt::format("{} m {} s", ms / 60'000, ms / 1000 % 60);
}

// Cuts at a character, not inside of one.
std::string Cut(std::string text, size_t columns) {
  size_t seen = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    // Bytes that continue a character of UTF-8 take no column. Cutting before one would leave half
    // a character.
    if ((static_cast<uint8_t>(text[i]) & 0xC0u) == 0x80u) {
      continue;
    }
    if (seen++ == columns) {
      text.resize(i);
      break;
    }
  }
  return text;
}

// All fields of spec/daemon 7.3 in snake case. Figures are passed on as the daemon says them, since
// the command computes none itself (spec/cli 8.4).
nlohmann::ordered_json ProgressJson(const client::BatchProgress& p) {
  nlohmann::ordered_json slowest = nlohmann::ordered_json::array();
  for (const client::BatchProgress::Slow& slow : p.slowest) {
    slowest.push_back(
        {{"program", slow.program}, {"options", OptionsJson(slow.options)}, {"ms", slow.ms}});
  }
  return {{"v", 1},
          {"type", "progress"},
          {"variants_total", p.variants_total},
          {"variants_served", p.variants_served},
          {"results_done", p.results_done},
          {"results_upper", p.results_upper},
          {"hit_memory", p.hit_memory},
          {"hit_local", p.hit_local},
          {"hit_upstream", p.hit_upstream},
          {"shared", p.shared},
          {"compiled", p.compiled},
          {"failed", p.failed},
          {"limited", p.limited},
          {"poisoned", p.poisoned},
          {"retried", p.retried},
          {"code_distinct", p.code_distinct},
          {"validated", p.validated},
          {"optimised", p.optimised},
          {"rate_results", p.rate_results},
          {"rate_variants", p.rate_variants},
          {"eta_ms", p.eta_ms},
          {"stage", p.stage},
          {"dedup_ratio", p.dedup_ratio},
          {"cache_hit_ratio", p.cache_hit_ratio},
          {"cpu_ms", p.cpu_ms},
          {"cpu_saved_ms", p.cpu_saved_ms},
          {"bytes_out", p.bytes_out},
          {"queue", p.queue},
          {"running", p.running},
          {"slowed_by", p.slowed_by},
          {"slowest", slowest}};
}

}  // namespace

// A window that has become narrower since then has wrapped the lines.
// The erasing of the bar goes up by rows of the terminal and not by lines of the text. One row too
// few leaves half a bar behind; one too many erases what stands above it.
size_t RowsOf(std::span<const std::string> lines, size_t columns) {
  size_t rows = 0;
  for (const std::string& line : lines) {
    const auto width = static_cast<size_t>(std::ranges::count_if(
        line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
    rows += columns == 0 ? 1 : std::max<size_t>(1, (width + columns - 1) / columns);
  }
  return rows;
}

void RestoreTerminal() {
  if (cursor_hidden != 0) {
    cursor_hidden = 0;
    constexpr std::string_view kLeave = "\x1b[?25h\n";  // what comes next has a line of its own
    // Called from a signal handler: write() is allowed there, the functions of stdio are not.
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kLeave.data(), kLeave.size());
  }
}

// At most three lines, each cut to the width: a line that wraps would make the bar taller than what
// is erased.
std::vector<std::string> BarLines(const std::string& project, const client::BatchProgress& p,
                                  size_t columns, bool unicode) {
  const double fraction = Fraction(p);
  // Rounded down, so the bar is full only when everything is served.
  const auto filled = static_cast<size_t>(fraction * kBarWidth);
  std::string bar;
  for (size_t i = 0; i < kBarWidth; ++i) {
    bar += i < filled ? (unicode ? "█" : "#") : (unicode ? "░" : ".");
  }
  std::string first =
      fmt::format(" {:<18}  {}  {}/{}{} results   {:<9}  {:.1f}/s", project, bar, p.results_done,
                  unicode ? "≤" : "<=", p.results_upper, p.stage, p.rate_results);
  if (p.eta_ms != 0) {
    first += fmt::format("   ETA {}:{:02}", p.eta_ms / 60'000, p.eta_ms / 1000 % 60);
  }
  std::vector<std::string> lines{
      std::move(first),
      fmt::format(" served {} of {} variants   cached {:.0f}%   dedup {:.1f}x   failed {}   cpu "
                  "{}, saved {}",
                  Grouped(p.variants_served), Grouped(p.variants_total), p.cache_hit_ratio * 100,
                  p.dedup_ratio, Failed(p), TimeText(p.cpu_ms), TimeText(p.cpu_saved_ms))};
  std::string third;
  if (!p.slowest.empty()) {
    third = fmt::format(" slowest  {} {} {} ms", p.slowest[0].program,
                        client::OptionsText(p.slowest[0].options), p.slowest[0].ms);
  }
  if (!p.slowed_by.empty()) {
    third += fmt::format("   batch slowed: {} pressure", p.slowed_by);
  }
  if (!third.empty()) {
    lines.push_back(std::move(third));
  }
  for (std::string& line : lines) {
    line = Cut(std::move(line), columns);
  }
  return lines;
}

std::string ProgressLine(const std::string& project, const client::BatchProgress& p) {
  std::string line = fmt::format("build {}: {}/{} results, {} variants, {:.0f}% cached, {:.1f}/s",
                                 project, p.results_done, p.results_upper, p.variants_served,
                                 p.cache_hit_ratio * 100, p.rate_results);
  if (p.eta_ms != 0) {
    line += fmt::format(", eta {}s", (p.eta_ms + 999) / 1000);
  }
  return line + fmt::format(", {}, {} failed", p.stage, Failed(p));
}

bool LinePace::Due(Time now, double fraction) {
  // Ten lines in the course of a build, no two within five seconds, and one every thirty seconds so
  // that a log shows life.
  const int tenths = static_cast<int>(fraction * 10);
  const auto since = now - last_;
  if ((tenths > tenths_ && since >= kLineAfter) || since >= kLineEvery) {
    last_ = now;
    tenths_ = tenths;
    return true;
  }
  return false;
}

Progress::Progress(const Global& global, const std::string& project)
    : json_(global.json),
      project_(Printable(project)),  // its width counts
      start_(std::chrono::steady_clock::now()),
      pace_(start_) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0 && Columns() >= kNarrowest;
  if (global.progress == "bar") {
    style_ = Style::kBar;
  } else if (global.progress == "lines") {
    style_ = Style::kLines;
  } else if (global.progress == "auto" && !global.quiet) {
    style_ = terminal ? Style::kBar : Style::kLines;
  }
  // stdout and stderr are often one stream for whoever reads JSON, so text is left out unless it
  // was asked for.
  if (global.json && global.progress != "lines") {
    style_ = Style::kNone;
  }
}

Progress::~Progress() { Clear(); }

void Progress::Begin(const std::string& id) { id_ = id; }

void Progress::Clear() {
  if (!shown_.empty()) {
    Print(stderr, "\r\x1b[2K");
    // The cursor stands in the last row of the bar; each step goes up one row and erases it.
    for (size_t row = RowsOf(shown_, Columns()); row > 1; --row) {
      Print(stderr, "\x1b[1A\x1b[2K");
    }
    Print(stderr, "{}", TrustedText{kShowCursor});
    (void)std::fflush(stderr);
    shown_.clear();
    cursor_hidden = 0;
  }
}

void Progress::Show(const client::BatchProgress& progress) {
  if (json_ && style_ == Style::kLines) {
    PrintLine(ProgressJson(progress));
  }
  if (style_ == Style::kNone || std::chrono::steady_clock::now() - start_ < kQuietFor) {
    return;
  }
  if (style_ == Style::kBar) {
    ShowBar(progress);
  } else {
    ShowLine(progress);
  }
}

void Progress::ShowBar(const client::BatchProgress& progress) {
  const auto now = std::chrono::steady_clock::now();
  // At most ten times a second; the first one comes at once.
  if (!shown_.empty() && now - last_bar_ < kBarEvery) {
    return;
  }
  last_bar_ = now;
  Clear();
  // One column stays free: a character in the last column makes some terminals wrap at once, others
  // only with the next character, and the count of rows must be right on all.
  const size_t columns = std::max(Columns(), kNarrowest);
  const bool unicode = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
  const std::vector<std::string> lines = BarLines(project_, progress, columns - 1, unicode);
  // Only from here on is the cursor hidden, so only from here on must a death show it again. SIGINT
  // has a handler of its own, which cancels the batch, and so has SIGBUS (cut_file.h).
  for (const int signal : {SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGABRT, SIGSEGV, SIGFPE}) {
    (void)std::signal(signal, OnDeath);
  }
  cursor_hidden = 1;
  Print(stderr, "{}", TrustedText{kHideCursor});
  for (size_t i = 0; i < lines.size(); ++i) {
    Print(stderr, "{}{}", TrustedText{i == 0 ? "" : "\n"}, lines[i]);
  }
  (void)std::fflush(stderr);
  shown_ = lines;
}

void Progress::ShowLine(const client::BatchProgress& progress) {
  // The first events come while the daemon still counts the space. The line waits until it has
  // numbers.
  if (!begun_ && progress.variants_total != "0") {
    begun_ = true;
    Print(stderr, "kiln: build {}: batch {}, {} variants, at most {} results\n", project_,
          id_.substr(0, 8), progress.variants_total, progress.results_upper);
  }
  if (pace_.Due(std::chrono::steady_clock::now(), Fraction(progress))) {
    Print(stderr, "kiln: {}\n", ProgressLine(project_, progress));
  }
}

void Progress::End(const client::BatchProgress& progress, const std::string& state) {
  Clear();
  // A build that was over before its first line says nothing here either; its summary follows
  // anyway.
  if (style_ == Style::kLines && begun_) {
    std::string word = state;
    std::ranges::transform(word, word.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    });
    Print(stderr, "kiln: build {}: {}, {} results, {} variants, {} distinct SPIR-V, {} failed\n",
          project_, word, progress.results_done, progress.variants_served, progress.code_distinct,
          Failed(progress));
  }
}

}  // namespace kiln::cli
