// SPDX-License-Identifier: MIT
#include "client/cli/project/standing_mistakes.h"

#include <utility>

#include "compiler/diag/render.h"

namespace kiln::cli {

// Both texts are there twice, in rows of maps.
uint64_t StandingMistakes::BytesOf(const std::string& program, const std::string& key) {
  constexpr uint64_t kRow = 128;
  return 2 * (program.size() + key.size() + kRow);
}

void StandingMistakes::Pairs::Add(const std::string& program, const std::string& key) {
  const uint64_t more = BytesOf(program, key);
  if (bytes + more <= kMostBytes && by_program[program].insert(key).second) {
    by_key[key].insert(program);
    bytes += more;
  }
}

// The two maps are kept as mirrors of each other: every pair is in both or in neither.
StandingMistakes::Keys StandingMistakes::Pairs::Take(const std::string& program) {
  auto found = by_program.extract(program);
  if (found.empty()) {
    return {};
  }
  for (const std::string& key : found.mapped()) {
    bytes -= BytesOf(program, key);
    const auto programs = by_key.find(key);
    programs->second.erase(program);
    if (programs->second.empty()) {
      by_key.erase(programs);
    }
  }
  return std::move(found.mapped());
}

bool StandingMistakes::Pairs::HasOther(const std::string& key, const std::string& program) const {
  const auto programs = by_key.find(key);
  return programs != by_key.end() &&
         (programs->second.size() > 1 || !programs->second.contains(program));
}

StandingMistakes::Keys StandingMistakes::Pairs::Of(const std::string& program) const {
  const auto found = by_program.find(program);
  return found == by_program.end() ? Keys() : found->second;
}

// From "now" to "before": what an answer does not say again has been mended, and Settle forgets it.
void StandingMistakes::Renew(std::span<const std::string> programs) {
  for (const std::string& program : programs) {
    for (const std::string& key : now_.Take(program)) {
      before_.Add(program, key);
    }
  }
}

std::vector<StandingMistakes::News> StandingMistakes::Add(const std::string& program,
                                                          std::span<const PlacedDiagnostic> all) {
  const Keys before = before_.Of(program);
  const Keys said = now_.Of(program);
  // All of this step first, since whether one of them is news depends on whether the whole set has
  // changed.
  Keys keys;
  for (const PlacedDiagnostic& one : all) {
    keys.insert(RenderShort(one));
  }
  std::vector<News> news;
  for (const PlacedDiagnostic& one : all) {
    const std::string key = RenderShort(one);
    const bool had = before.contains(key);
    // A mistake counts as known if another program has it in this generation, or had it in the one
    // before and was not built yet.
    const bool known = now_.HasOther(key, program) || (!had && before_.HasOther(key, program));
    const bool was_said = said.contains(key) && said != before;  // by an earlier step
    // A program whose mistakes are the same as before is not news, even if an edit made the daemon
    // say them again.
    const bool is_old = keys == before || was_said || (known && had);
    news.push_back(is_old ? News::kNone : known ? News::kJoined : News::kTold);
  }
  for (const std::string& key : keys) {
    now_.Add(program, key);
  }
  return news;
}

void StandingMistakes::Settle() { before_ = {}; }

void StandingMistakes::Keep(const std::set<std::string>& programs) {
  for (Pairs* const pairs : {&now_, &before_}) {
    std::vector<std::string> gone;
    for (const auto& [program, keys] : pairs->by_program) {
      if (!programs.contains(program)) {
        gone.push_back(program);
      }
    }
    // Taken in a second pass: Take changes the map that the first one walks.
    for (const std::string& program : gone) {
      (void)pairs->Take(program);
    }
  }
}

void StandingMistakes::Forget() {
  now_ = {};
  before_ = {};
}

std::set<std::string> StandingMistakes::ProgramsWith(const PlacedDiagnostic& diagnostic) const {
  const std::string key = RenderShort(diagnostic);
  std::set<std::string> programs;
  if (const auto found = now_.by_key.find(key); found != now_.by_key.end()) {
    programs = found->second;
  }
  return programs;
}

}  // namespace kiln::cli
