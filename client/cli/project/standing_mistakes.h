// SPDX-License-Identifier: MIT
// What is wrong with programs that are looked at again and again, and what of it is news. Programs
// are looked at in answers: some are renewed, they say what is wrong with them, the answer settles.
// What is wrong with the others stays. See spec/cli 6.5, 9
//
// Threads: one at a time.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compiler/diag/place.h"

namespace kiln::cli {

class StandingMistakes {
 public:
  enum class News : uint8_t {
    kNone,
    kJoined,  // it was said of other programs, and this one has it now, too
    kTold,    // it is to be said
  };

  // The programs of an answer: what was wrong with them may be gone.
  void Renew(std::span<const std::string> programs);
  // All that is wrong with a program, in one or several steps; the news, by its place in `all`. A
  // program with which the same is wrong as before has none. One with which something else is wrong
  // says all of it, for nobody could tell what has stayed, but for what other programs have.
  std::vector<News> Add(const std::string& program, std::span<const PlacedDiagnostic> all);
  // The answer is over: what has said nothing is right.
  void Settle();
  // All programs that there are: what was wrong with others is forgotten.
  void Keep(const std::set<std::string>& programs);
  void Forget();  // everything

  // Who has this one. Requires: the answer has not settled.
  std::set<std::string> ProgramsWith(const PlacedDiagnostic& diagnostic) const;

 private:
  static constexpr uint64_t kMostBytes = uint64_t{64} << 20;
  using Programs = std::set<std::string>;
  using Keys = std::set<std::string>;  // what mistakes say
  // Of a time: the same as pairs of mistakes and programs, by either.
  struct Pairs {
    std::map<std::string, Programs> by_key;
    std::map<std::string, Keys> by_program;
    uint64_t bytes = 0;  // about

    // Nothing beyond kMostBytes: what is not kept is told each time.
    void Add(const std::string& program, const std::string& key);
    Keys Take(const std::string& program);  // away
    bool HasOther(const std::string& key, const std::string& program) const;
    Keys Of(const std::string& program) const;
  };

  static uint64_t BytesOf(const std::string& program, const std::string& key);

  Pairs now_;
  Pairs before_;  // of programs that were renewed
};

}  // namespace kiln::cli
