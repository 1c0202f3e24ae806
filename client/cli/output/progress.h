// SPDX-License-Identifier: MIT
// Progress of a batch on stderr: a bar on a terminal, sober lines elsewhere. Rates and times come
// from the daemon. See spec/cli 8
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "client/cli/global.h"
#include "client/types.h"

namespace kiln::cli {

// Up to three lines of at most `columns` characters, without escape codes.
std::vector<std::string> BarLines(const std::string& project, const client::BatchProgress& progress,
                                  size_t columns, bool unicode);
// "build demo: 412/960 results, 61440 variants, 78% cached, 18.2/s, eta 31s, validate, 1 failed"
std::string ProgressLine(const std::string& project, const client::BatchProgress& progress);

// Rows that lines take in a window of so many columns; 0: there is no window.
size_t RowsOf(std::span<const std::string> lines, size_t columns);

// When lines are due: at every tenth or 5 s, whichever is later, and at least every 30 s.
class LinePace {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit LinePace(Time start) : last_(start) {}
  bool Due(Time now, double fraction);

 private:
  Time last_;
  int tenths_ = 0;
};

// Shows the cursor if a bar has hidden it. For who ends the program at once: signal handlers may
// call it.
void RestoreTerminal();

class Progress {
 public:
  Progress(const Global& global, const std::string& project);
  ~Progress();  // leaves the terminal clean
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The batch is known under this id.
  void Begin(const std::string& id);
  void Show(const client::BatchProgress& progress);
  void End(const client::BatchProgress& progress, const std::string& state);
  // Takes the bar away so that something else can be printed.
  void Clear();

 private:
  enum class Style : uint8_t { kNone, kLines, kBar };

  void ShowBar(const client::BatchProgress& progress);
  void ShowLine(const client::BatchProgress& progress);

  Style style_ = Style::kNone;
  const bool json_;
  const std::string project_;
  std::string id_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_bar_;
  LinePace pace_;
  bool begun_ = false;              // the first line was printed
  std::vector<std::string> shown_;  // lines of the bar on the terminal
};

}  // namespace kiln::cli
