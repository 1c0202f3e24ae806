// SPDX-License-Identifier: MIT
// One directive at a time: which one it is, and whose it is. The two that need macros expanded
// and belong to no part of their own, #line and the messages, are here.
#include "compiler/front/hlsl/preprocess/directives.h"

#include <limits>
#include <optional>

#include "compiler/front/hlsl/lex/number_form.h"

namespace kiln::hlsl {

Directives::Directives(const Includes::Inputs& inputs, FileTable& table, FileStack& files,
                       PreprocessState& state)
    : table_(table),
      files_(files),
      state_(state),
      definitions_(files, state),
      conditionals_(files, table, state),
      includes_(inputs, table, files, state),
      pragmas_(files, table, state),
      line_(files),
      expander_(line_, table, state) {}

// The line is left before it is obeyed, since an include goes on in another file.
void Directives::Obey() {
  const DirectiveLine line = files_.Line();
  files_.SkipLine(line);
  // `#` alone in a line is the null directive.
  if (line.name < line.end) {
    Dispatch(state_.lexed.rows[line.name].symbol, line);
  }
}

void Directives::EndFile() { conditionals_.EndFile(); }

// A word that is no directive is an error where the group is read (HLSL1020), nothing where it
// is skipped.
void Directives::Dispatch(uint32_t word, const DirectiveLine& line) {
  switch (word) {
    case kWordDefine:
      return definitions_.Define(line);
    case kWordUndef:
      return definitions_.Undefine(line);
    case static_cast<uint32_t>(TokenKind::kIf):
      return conditionals_.If(line);
    case kWordIfdef:
      return conditionals_.Ifdef(line, true);
    case kWordIfndef:
      return conditionals_.Ifdef(line, false);
    case static_cast<uint32_t>(TokenKind::kElse):
    case kWordElif:
      return conditionals_.Else(line);
    case kWordEndif:
      return conditionals_.Endif(line);
    case kWordPragma:
      return pragmas_.Pragma(line);
    case kWordLine:
      return Line(line);
    case kWordError:
      return Message(Code::kHlsl1024, line);
    case kWordWarning:
      return Message(Code::kHlsl1025, line);
    case kWordInclude:
      return includes_.Include(line);
    default:
      return ReportLine(Code::kHlsl1020, state_.Text(word), line);
  }
}

// #line 12, #line 12 "path", with macros expanded.
void Directives::Line(const DirectiveLine& line) {
  line_.Begin(line.at, line.end);
  const Token number = expander_.Next();
  // Behind the path nothing is looked at (spec/hlsl 4.1), but it is read, so that no macro
  // stays open.
  const Token path = number.kind == TokenKind::kEnd ? number : expander_.Next();
  Token last = path;
  while (last.kind != TokenKind::kEnd) {
    last = expander_.Next();
  }
  std::optional<Integer> value;
  if (number.kind == TokenKind::kInteger) {
    value = IntegerValue(state_.Text(number.symbol));
  }
  const bool good = value.has_value() &&
                    // 2^31 - 1, the largest line number that C allows.
                    value->value <= uint64_t{std::numeric_limits<int32_t>::max()} &&
                    (path.kind == TokenKind::kEnd || path.kind == TokenKind::kString);
  if (!good) {
    const Token& wrong = number.kind == TokenKind::kInteger && value.has_value() ? path : number;
    const bool end = number.kind == TokenKind::kEnd;
    state_.Report(
        state_.stream
            .MakeAt(Code::kHlsl1040, end ? files_.Delivered(line.name).origin : wrong.origin)
            .With("what", "a line number and a path in quotes")
            .With("text", end ? "end of line" : Quoted(state_.Text(wrong.symbol))));
    return;
  }
  uint32_t symbol = kNoSymbol;
  if (path.kind == TokenKind::kString) {
    const std::string quoted(state_.Text(path.symbol));
    symbol = state_.stream.symbols.Intern(std::string_view(quoted).substr(1, quoted.size() - 2));
  }
  // spec/hlsl 4.1: it changes `__LINE__`, `__FILE__` and messages, never spans.
  table_.MarkLine(line.hash, static_cast<uint32_t>(value->value), symbol);
}

// The text as it is written, macros not expanded.
void Directives::Message(Code code, const DirectiveLine& line) {
  const std::span<const Token> words =
      std::span(state_.lexed.rows).subspan(line.at, line.end - line.at);
  ReportLine(code, TextOf(words, state_.stream.symbols), line);
}

// A message about the whole line.
void Directives::ReportLine(Code code, std::string_view text, const DirectiveLine& line) {
  state_.Report(
      state_.stream
          .MakeAt(code, files_.Delivered(line.hash).origin, files_.Delivered(line.end - 1).origin)
          .With("text", text));
}

}  // namespace kiln::hlsl
