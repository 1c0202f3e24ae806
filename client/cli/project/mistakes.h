// SPDX-License-Identifier: MIT
// One mistake of a source is one message, however many programs have it: what is new is shown, what
// other programs have too is a list of them. See spec/cli 9
//
// Threads: one at a time.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "client/cli/global.h"
#include "client/cli/project/standing_mistakes.h"

namespace kiln::cli {

struct Mistake {
  PlacedDiagnostic diagnostic;  // as the first program has it
  std::string first;
  std::set<std::string> programs;  // all of them
};

// The same place, code and message are the same mistake.
class MistakeList {
 public:
  // True if no program has it yet. Of 10,000 mistakes, or 64 MiB, the rest is new each time and not
  // kept.
  bool Add(const std::string& program, const PlacedDiagnostic& diagnostic);
  bool empty() const { return all_.empty(); }
  // As they came.
  const std::vector<Mistake>& all() const { return all_; }
  // In the order in which diagnostics are read.
  std::vector<Mistake> Sorted() const;

 private:
  std::vector<Mistake> all_;
  std::map<std::string, size_t> known_;  // what it says -> place in all_
  uint64_t bytes_ = 0;                   // of the texts
};

// "a, b, c and 37 more"; all of them if there are `most` at most.
std::string ProgramsText(const std::set<std::string>& programs, size_t most = 3);

// "materials/rock.rpl:88:20 [RPL6022]"; the code alone without a place.
std::string MistakeName(const PlacedDiagnostic& diagnostic);

// Shows what is wrong with the programs of a verb that has several.
class Mistakes {
 public:
  // With --json a mistake is shown at the end, with all its programs, or at once with the first one
  // for those who wait for it. The latter get answer after answer, and of each its news alone.
  enum class Json : uint8_t { kAtTheEnd, kAtOnce };
  explicit Mistakes(const Global& global, Json json = Json::kAtTheEnd)
      : global_(global), json_(json) {}

  struct MistakeCounts {
    size_t errors = 0;  // of the program
    size_t fresh = 0;   // mistakes that no program had
  };
  // Shows what is fresh. `more` is of ShowDiagnostics.
  MistakeCounts Add(const std::string& program, std::span<const PlacedDiagnostic> diagnostics,
                    std::span<const client::Source> sources, std::string_view more = "--json");

  // The end of an answer: which mistakes other programs have, too. Forgets all of them, but for
  // what decides on the news of the next answer.
  void End();

  // For those who get answer after answer: StandingMistakes has what they mean.
  void Renew(std::span<const std::string> programs) { standing_.Renew(programs); }
  void Keep(const std::set<std::string>& programs) { standing_.Keep(programs); }
  void Forget() { standing_.Forget(); }

 private:
  bool HasNews() const { return global_.json && json_ == Json::kAtOnce; }
  MistakeCounts AddNews(const std::string& program, std::span<const PlacedDiagnostic> diagnostics,
                        std::span<const client::Source> sources, std::string_view more);
  void TellAgain(const Mistake& mistake) const;

  const Global& global_;
  const Json json_;
  MistakeList list_;
  StandingMistakes standing_;
};

}  // namespace kiln::cli
