// SPDX-License-Identifier: MIT
// Open conditionals are a stack over all files, each with the depth of its file: one never
// closes another file's. A group is either read, or skipped by walking from directive to
// directive; nothing in it is expanded or reported.
#include "compiler/front/hlsl/preprocess/conditionals.h"

#include <string>

namespace kiln::hlsl {
namespace {

// The words that are keywords as well: their symbol is their kind.
constexpr auto kIf = static_cast<uint32_t>(TokenKind::kIf);
constexpr auto kElse = static_cast<uint32_t>(TokenKind::kElse);

}  // namespace

void Conditionals::If(const DirectiveLine& line) { Open(line, condition_.Evaluate(line)); }

// Without a name it is false, whichever of the two asks, and said.
void Conditionals::Ifdef(const DirectiveLine& line, bool wanted) {
  const bool named = line.at < line.end && state_.lexed.rows[line.at].is_word();
  if (!named) {
    const uint32_t at = line.at < line.end ? line.at : line.name;
    state_.Report(state_.stream.MakeAt(Code::kHlsl1040, files_.Delivered(at).origin)
                      .With("what", "the name of a macro")
                      .With("text", line.at < line.end
                                        ? Quoted(state_.Text(state_.lexed.rows[at].symbol))
                                        : "end of line"));
  }
  Open(line, named && condition_.IsDefined(files_.Delivered(line.at)) == wanted);
}

// A group that was read ends: the others of its conditional are not.
void Conditionals::Else(const DirectiveLine& line) {
  if (!IsOpen()) {
    WithoutIf(line);
    return;
  }
  // A group that was read came to its `#else` or `#elif`: all that is left is skipped. A second
  // `#else` is told and skipped, too.
  Conditional& conditional = open_.back();
  const bool is_else = state_.lexed.rows[line.name].symbol == kElse;
  if (conditional.has_else) {
    WithoutIf(line);
  }
  conditional.has_else = conditional.has_else || is_else;
  SkipGroups(Wanted::kNone);
}

void Conditionals::Endif(const DirectiveLine& line) {
  if (!IsOpen()) {
    WithoutIf(line);
    return;
  }
  open_.pop_back();
}

// Each that the file opened and did not close. A file that includes the file is not looked at.
void Conditionals::EndFile() {
  for (; IsOpen(); open_.pop_back()) {
    if (!state_.stopped) {
      state_.Report(state_.stream.MakeAt(Code::kHlsl1022, open_.back().origin)
                        .With("text", state_.Text(open_.back().name)));
    }
  }
}

// Whether the innermost one was opened by the file that is being read.
bool Conditionals::IsOpen() const { return !open_.empty() && open_.back().depth == files_.depth(); }

// The place is that of the word, which messages about a missing `#endif` show.
void Conditionals::Open(const DirectiveLine& line, bool holds) {
  const Token name = files_.Delivered(line.name);
  open_.push_back({.depth = files_.depth(), .origin = name.origin, .name = name.symbol});
  if (!holds) {
    SkipGroups(Wanted::kNext);
  }
}

// To the first group of the innermost conditional that is to be read (kNext), or behind it. What is
// nested in groups that are skipped is counted, not looked at.
// Only directives are visited, by the list that the lexer made, so text that is skipped costs
// nothing. The condition of an `#elif` is evaluated only if no group was read before.
void Conditionals::SkipGroups(Wanted wanted) {
  uint32_t nested = 0;
  while (files_.SkipToDirective()) {
    const DirectiveLine line = files_.Line();
    files_.SkipLine(line);
    if (line.name == line.end) {
      continue;
    }
    const uint32_t word = state_.lexed.rows[line.name].symbol;
    // `#if` in a group that is skipped opens one that is skipped whole.
    if (word == kIf || word == kWordIfdef || word == kWordIfndef) {
      ++nested;
    } else if (word == kWordEndif) {
      if (nested == 0) {
        open_.pop_back();
        return;
      }
      --nested;
    } else if (nested == 0 && (word == kElse || word == kWordElif)) {
      Conditional& conditional = open_.back();
      if (conditional.has_else) {
        WithoutIf(line);
        continue;
      }
      conditional.has_else = word == kElse;
      if (wanted == Wanted::kNext && (word == kElse || condition_.Evaluate(line))) {
        return;
      }
    }
  }
}

void Conditionals::WithoutIf(const DirectiveLine& line) {
  const Token name = files_.Delivered(line.name);
  state_.Report(
      state_.stream.MakeAt(Code::kHlsl1021, name.origin).With("text", state_.Text(name.symbol)));
}

}  // namespace kiln::hlsl
