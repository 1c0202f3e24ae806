// SPDX-License-Identifier: MIT
#include "client/cli/progress.h"

#include <algorithm>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace kiln::cli {
namespace {

constexpr std::chrono::milliseconds kQuietFor{300};  // nothing is shown for shorter work
constexpr std::chrono::seconds kLineEvery{5};
constexpr size_t kBarWidth = 20;

uint32_t Columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

double Fraction(const client::BatchProgress& progress) {
  const double total = std::strtod(progress.variants_total.c_str(), nullptr);
  const double served = std::strtod(progress.variants_served.c_str(), nullptr);
  return total <= 0 ? 0 : std::min(1.0, served / total);
}

std::string Eta(uint64_t ms) {
  return ms == 0 ? std::string() : fmt::format("  ETA {}:{:02}", ms / 60000, ms / 1000 % 60);
}

}  // namespace

Progress::Progress(const Global& global, std::string project)
    : project_(std::move(project)), start_(std::chrono::steady_clock::now()), last_line_(start_) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0 && Columns() >= 60;
  if (global.progress == "bar") {
    style_ = Style::kBar;
  } else if (global.progress == "lines") {
    style_ = Style::kLines;
  } else if (global.progress == "auto" && !global.quiet) {
    style_ = terminal ? Style::kBar : Style::kLines;
  }
}

Progress::~Progress() { Clear(); }

void Progress::Clear() {
  if (bar_shown_) {
    fmt::print(stderr, "\r\x1b[2K");
    bar_shown_ = false;
  }
}

void Progress::Show(const client::BatchProgress& progress) {
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
  const double fraction = Fraction(progress);
  const auto filled = static_cast<size_t>(fraction * kBarWidth);
  std::string bar;
  for (size_t i = 0; i < kBarWidth; ++i) {
    bar += i < filled ? "█" : "░";
  }
  fmt::print(stderr, "\r\x1b[2K {} {} {:3.0f}%  {} of {} variants  {} results  {:.0f}/s{}",
             project_, bar, fraction * 100, progress.variants_served, progress.variants_total,
             progress.results_done, progress.rate_variants, Eta(progress.eta_ms));
  (void)std::fflush(stderr);
  bar_shown_ = true;
}

void Progress::ShowLine(const client::BatchProgress& progress) {
  const auto now = std::chrono::steady_clock::now();
  const double fraction = Fraction(progress);
  if (now - last_line_ < kLineEvery && fraction - last_fraction_ < 0.1) {
    return;
  }
  last_line_ = now;
  last_fraction_ = fraction;
  fmt::print(stderr,
             "kiln: build {}: {} of {} variants, {} results, {} compiled, {:.0f}/s, {} failed\n",
             project_, progress.variants_served, progress.variants_total, progress.results_done,
             progress.compiled, progress.rate_variants, progress.failed);
}

}  // namespace kiln::cli
