// SPDX-License-Identifier: MIT
// Collects the diagnostics of many programs, so that a mistake in a shared source is shown once and
// not once for each program that includes it. At the end a line says which other programs have it
// too.
#include "client/cli/project/mistakes.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "client/cli/output/diagnostics_view.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "compiler/diag/render.h"

namespace kiln::cli {
namespace {

constexpr size_t kMostAgain = 20;  // lines about mistakes of several programs
constexpr size_t kMostKept = 10'000;
constexpr uint64_t kMostKeptBytes = uint64_t{64} << 20;

// What is kept of a mistake, about.
uint64_t DiagnosticBytes(const PlacedDiagnostic& diagnostic) {
  uint64_t bytes = sizeof(Mistake) + 2 * diagnostic.message.size() + diagnostic.primary.path.size();
  for (const PlacedLabel& label : diagnostic.labels) {
    bytes += sizeof(label) + label.text.size() + label.where.path.size();
  }
  for (const std::string& note : diagnostic.notes) {
    bytes += sizeof(note) + note.size();
  }
  return bytes;
}

}  // namespace

// The map leads from the short text to an index and not to a pointer, because the vector moves when
// it grows. Its cost is one rendering of a short line for each diagnostic.
bool MistakeList::Add(const std::string& program, const PlacedDiagnostic& diagnostic) {
  // The short text of a diagnostic has its place, code and message: two programs with the same text
  // have the same mistake.
  const auto [known, is_new] = known_.try_emplace(RenderShort(diagnostic), all_.size());
  if (is_new) {
    if (all_.size() >= kMostKept || bytes_ >= kMostKeptBytes) {
      known_.erase(known);
      return true;
    }
    bytes_ += DiagnosticBytes(diagnostic) + program.size();
    all_.push_back({.diagnostic = diagnostic, .first = program, .programs = {program}});
    return true;
  }
  std::set<std::string>& programs = all_[known->second].programs;
  if (bytes_ < kMostKeptBytes && programs.insert(program).second) {
    bytes_ += program.size() + sizeof(program);
  }
  return false;
}

// A copy is sorted, because known_ has indices into all_. The sort is stable, so mistakes at one
// place stay in the order in which they were found.
std::vector<Mistake> MistakeList::Sorted() const {
  std::vector<Mistake> sorted = all_;
  std::ranges::stable_sort(sorted, ReadsBefore, &Mistake::diagnostic);
  return sorted;
}

std::string ProgramsText(const std::set<std::string>& programs, size_t most) {
  // "and 1 more" takes the room of the name that it hides.
  const size_t shown = programs.size() <= most + 1 ? programs.size() : most;
  const auto end = std::next(programs.begin(), static_cast<std::ptrdiff_t>(shown));
  std::string text = fmt::format("{}", fmt::join(programs.begin(), end, ", "));
  return shown == programs.size() ? text
                                  : fmt::format("{} and {} more", text, programs.size() - shown);
}

std::string MistakeName(const PlacedDiagnostic& diagnostic) {
  const PlacedSpan& at = diagnostic.primary;
  return at.known() ? fmt::format("{}:{}:{} [{}]", at.path, at.line, at.column, diagnostic.code)
                    : fmt::format("[{}]", diagnostic.code);
}

// `more` is a text that is shown below the diagnostics of this program. Counts are of all errors
// that came in, whereas `fresh` counts only what was new; the summary of a build needs both.
Mistakes::MistakeCounts Mistakes::Add(const std::string& program,
                                      std::span<const PlacedDiagnostic> diagnostics,
                                      std::span<const client::Source> sources,
                                      std::string_view more) {
  if (HasNews()) {
    return AddNews(program, diagnostics, sources, more);
  }
  MistakeCounts added;
  std::vector<PlacedDiagnostic> fresh;
  for (const PlacedDiagnostic& diagnostic : diagnostics) {
    added.errors += diagnostic.severity == Severity::kError ? 1 : 0;
    if (list_.Add(program, diagnostic)) {
      fresh.push_back(diagnostic);
    }
  }
  added.fresh = fresh.size();
  if (!global_.json) {
    (void)ShowDiagnostics(global_, fresh, sources, program, more);
  }
  return added;
}

// The list takes everything that is news in any way, so that End can name all programs. What is
// shown at once is only what nobody has said.
Mistakes::MistakeCounts Mistakes::AddNews(const std::string& program,
                                          std::span<const PlacedDiagnostic> diagnostics,
                                          std::span<const client::Source> sources,
                                          std::string_view more) {
  MistakeCounts added;
  std::vector<PlacedDiagnostic> fresh;
  const std::vector<StandingMistakes::News> news = standing_.Add(program, diagnostics);
  for (size_t i = 0; i < diagnostics.size(); ++i) {
    added.errors += diagnostics[i].severity == Severity::kError ? 1 : 0;
    if (news[i] != StandingMistakes::News::kNone) {
      (void)list_.Add(program, diagnostics[i]);
    }
    if (news[i] == StandingMistakes::News::kTold) {
      fresh.push_back(diagnostics[i]);
    }
  }
  added.fresh = fresh.size();
  (void)ShowDiagnostics(global_, fresh, sources, program, more);
  return added;
}

// The first program is left out of the text: its message is above. JSON has all of them, since its
// reader may not have kept that message.
void Mistakes::TellAgain(const Mistake& mistake) const {
  if (!global_.json) {
    std::set<std::string> others = mistake.programs;
    others.erase(mistake.first);
    Print(stderr, "{}: also in {}\n", MistakeName(mistake.diagnostic), ProgramsText(others));
    return;
  }
  const PlacedDiagnostic& diagnostic = mistake.diagnostic;
  PrintLine(nlohmann::ordered_json{{"v", 1},
                                   {"type", "mistake"},
                                   {"code", diagnostic.code},
                                   {"message", diagnostic.message},
                                   {"path", diagnostic.primary.path},
                                   {"line", diagnostic.primary.line},
                                   {"column", diagnostic.primary.column},
                                   {"programs", mistake.programs}});
}

// JSON is told in full, whatever the number; the bound of kMostAgain is for people.
void Mistakes::End() {
  // The list begins anew, so a watch tells mistakes of each generation.
  const MistakeList list = std::exchange(list_, {});
  size_t told = 0;
  size_t hidden = 0;
  for (Mistake& mistake : list.Sorted()) {
    if (HasNews()) {
      mistake.programs = standing_.ProgramsWith(mistake.diagnostic);
    }
    if (global_.json && json_ == Json::kAtTheEnd) {
      ShowMistake(global_, mistake.diagnostic, mistake.programs);
    } else if (mistake.programs.size() > 1 && (global_.json || told < kMostAgain)) {
      TellAgain(mistake);
      ++told;
    } else {
      hidden += mistake.programs.size() > 1 ? 1 : 0;
    }
  }
  standing_.Settle();
  if (hidden != 0) {
    Print(stderr, "and {} more mistakes of several programs; see --report\n", hidden);
  }
}

}  // namespace kiln::cli
