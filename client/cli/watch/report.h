// SPDX-License-Identifier: MIT
// Events of a watch session -> lines for people on stdout, or objects of --json. See spec/cli 6.5,
// 7.1, 11.2
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "client/cli/global.h"
#include "client/cli/project/mistakes.h"
#include "client/hot_reload.h"

namespace kiln::cli {

class WatchReport {
 public:
  // `interest`: which variants have lines of their own, as OptionsText; none: the first few.
  WatchReport(const Global& global, std::set<std::string> interest)
      : global_(global),
        mistakes_(global, Mistakes::Json::kAtOnce),
        interest_(std::move(interest)) {}

  void SetSources(std::vector<client::Source> sources) { sources_ = std::move(sources); }
  // All there are; what was wrong with others is nothing that is known.
  void SetPrograms(const std::set<std::string>& programs) { mistakes_.Keep(programs); }
  // `ms`: since the save.
  void Show(const client::WatchEvent& event, double ms);

 private:
  void ShowText(const client::WatchEvent& event, double ms);
  void ShowJson(const client::WatchEvent& event, double ms);
  void Line(const std::string& what, const std::string& text, double ms);

  void On(const client::WatchOpened& opened, double ms);
  void On(const client::WatchChanged& changed, double ms);
  void On(const client::WatchArtifact& artifact, double ms);
  void On(const client::WatchUnchanged& unchanged, double ms);
  void On(const client::WatchDiagnostics& diagnostics, double ms);
  void On(const client::WatchSettled& settled, double ms);
  void On(const client::WatchSnapshot& snapshot, double ms);
  void On(const client::WatchProblem& problem, double ms);

  size_t DistinctResults() const;

  const Global& global_;
  Mistakes mistakes_;
  const std::set<std::string> interest_;
  std::vector<client::Source> sources_;
  std::map<std::string, std::string> good_since_;  // program -> time of its last artifact
  bool ready_ = false;                             // the state of the beginning was told
  // Of the beginning: what there is for each variant, as (program, target, options) -> signature.
  std::map<std::array<std::string, 3>, std::string> results_;
  std::set<std::string> wrong_;  // programs of which that was said
  size_t lines_ = 0;             // of artifacts of this generation
  size_t hidden_ = 0;
};

}  // namespace kiln::cli
