// SPDX-License-Identifier: MIT
// Progress of a batch on stderr: a bar on a terminal, sober lines elsewhere. Spec: cli §8
#pragma once

#include <chrono>
#include <string>

#include "client/cli/global.h"
#include "client/types.h"

namespace kiln::cli {

class Progress {
 public:
  Progress(const Global& global, std::string project);
  ~Progress();  // leaves the terminal clean
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Show(const client::BatchProgress& progress);
  // Takes the bar away so that something else can be printed.
  void Clear();

 private:
  enum class Style : uint8_t { kNone, kLines, kBar };

  void ShowBar(const client::BatchProgress& progress);
  void ShowLine(const client::BatchProgress& progress);

  Style style_ = Style::kNone;
  const std::string project_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_line_;
  double last_fraction_ = 0;
  bool bar_shown_ = false;
};

}  // namespace kiln::cli
