// SPDX-License-Identifier: MIT
// A definition is read into a row of the macro table: parameters become numbers, `#` and `##`
// become flags of the tokens beside them, so that expanding never looks at them again. Rows are
// kept by the line that made them, since a file that is included many times defines the same
// macros each time.
#include "compiler/front/hlsl/preprocess/definitions.h"

#include <string>
#include <utility>

namespace kiln::hlsl {

// Their text depends on where they are used, so they are kinds of macros and have no body.
void Definitions::DefineBuiltIns() {
  const auto define = [&](Word word, Macro::Kind kind) {
    state_.macros.Define(state_.macros.Add({.name = word, .kind = kind, .has_place = false}, {}));
  };
  define(kWordFileMacro, Macro::Kind::kFile);
  define(kWordLineMacro, Macro::Kind::kLine);
  define(kWordDate, Macro::Kind::kClock);
  define(kWordTime, Macro::Kind::kClock);
  define(kWordTimestamp, Macro::Kind::kClock);
}

// Behind it macros have places, to which diagnostics lead.
void Definitions::EndOfPredefined() { predefined_ = false; }

// A line is read once; to define its macro again is to look it up.
// In a file that is included again each `#define` has its macro already, by the row of its `#`.
void Definitions::Define(const DirectiveLine& line) {
  const uint32_t* known = by_line_.Find(line.hash);
  const std::optional<uint32_t> row = known != nullptr ? *known : Read(line);
  if (!row.has_value()) {
    return;
  }
  if (known == nullptr) {
    by_line_.Insert(line.hash, *row);
  }
  const Macro& macro = state_.macros[*row];
  const uint32_t before = state_.FindMacro(macro.name);
  // Another definition than the one that holds is warned about, as C has it: kind, parameters,
  // tokens and the spaces between them count.
  const bool differs = before != MacroTable::kNone &&
                       state_.macros[before].kind != Macro::Kind::kClock &&
                       !state_.macros.Equal(before, *row);
  if (differs) {
    const Macro& other = state_.macros[before];
    const std::string name = Quoted(state_.Text(macro.name));
    Diagnostic warning =
        state_.stream.MakeAt(Code::kHlsl1028, files_.Delivered(line.at).origin).With("name", name);
    if (other.has_place) {
      warning.labels.push_back({.kind = LabelKind::kFirstHere,
                                .where = state_.stream.Where(other.origin),
                                .arguments = {}});
    }
    state_.Report(std::move(warning));
  }
  state_.macros.Define(*row);
}

void Definitions::Undefine(const DirectiveLine& line) {
  if (ReadMacroName(line)) {
    // What the name was does not matter, but what it is from here on does: it counts as read.
    const uint32_t symbol = state_.lexed.rows[line.at].symbol;
    state_.FindMacro(symbol);
    state_.macros.Undefine(symbol);
  }
}

Token Definitions::At(uint32_t row, const DirectiveLine& line) const {
  return row < line.end ? state_.lexed.rows[row] : Token{};
}

// HLSL1040 at `at`, which may be the end of the line. False, to be returned.
bool Definitions::Expected(std::string_view what, uint32_t at, const DirectiveLine& line) {
  const bool end = at >= line.end;
  const uint32_t origin = files_.Delivered(end ? line.end - 1 : at).origin;
  state_.Report(
      state_.stream.MakeAt(Code::kHlsl1040, origin)
          .With("what", what)
          .With("text", end ? "end of line" : Quoted(state_.Text(state_.lexed.rows[at].symbol))));
  return false;
}

// `defined` must not be a macro, or `#if` would mean something else.
bool Definitions::ReadMacroName(const DirectiveLine& line) {
  const Token name = At(line.at, line);
  return (name.is_word() && name.symbol != kWordDefined) ||
         Expected("the name of a macro", line.at, line);
}

// An object has no parenthesis directly behind its name; with a space before it the parenthesis
// belongs to the body.
std::optional<uint32_t> Definitions::Read(const DirectiveLine& line) {
  if (!ReadMacroName(line)) {
    return std::nullopt;
  }
  Macro macro{.name = At(line.at, line).symbol, .has_place = !predefined_, .origin = line.at};
  uint32_t at = line.at + 1;
  parameters_.Clear();
  const Token behind = At(at, line);
  if (behind.kind == TokenKind::kOpenParen && (behind.flags & Token::kLayout) == 0) {
    macro.kind = Macro::Kind::kFunction;
    ++at;
    if (!ReadParameters(at, line, macro)) {
      return std::nullopt;
    }
  }
  if (!ReadBody(at, line, macro)) {
    return std::nullopt;
  }
  return state_.macros.Add(macro, body_);
}

// Names up to ')', the last of which may be '...', which is called __VA_ARGS__.
// A parameter is known by its number from here on. Two of one name, and the name of the
// variable arguments, are errors.
bool Definitions::ReadParameters(uint32_t& at, const DirectiveLine& line, Macro& macro) {
  if (At(at, line).kind == TokenKind::kCloseParen) {
    ++at;
    return true;
  }
  while (true) {
    const Token token = At(at, line);
    macro.is_variadic = token.kind == TokenKind::kEllipsis;
    const uint32_t name = macro.is_variadic ? uint32_t{kWordVaArgs} : token.symbol;
    if (!macro.is_variadic && (!token.is_word() || name == kWordVaArgs)) {
      return Expected("the name of a parameter", at, line);
    }
    if (!parameters_.Insert(name, macro.parameters).second) {
      return Expected("another name of a parameter", at, line);
    }
    ++macro.parameters;
    const TokenKind next = At(++at, line).kind;
    if (next == TokenKind::kCloseParen) {
      ++at;
      return true;
    }
    if (next != TokenKind::kComma || macro.is_variadic) {
      return Expected(macro.is_variadic ? "')'" : "',' or ')'", at, line);
    }
    ++at;
  }
}

// Mentions of parameters become kParameter; '#' and '##' become flags of what is beside them.
bool Definitions::ReadBody(uint32_t at, const DirectiveLine& line, const Macro& macro) {
  const bool function = macro.kind == Macro::Kind::kFunction;
  body_.clear();
  bool pasting = false;
  for (; at < line.end; ++at) {
    Token token = At(at, line);
    // `##` stands between two tokens: not first, not last, not twice. What is on its sides is
    // not expanded (kRaw).
    if (token.kind == TokenKind::kHashHash) {
      if (body_.empty() || pasting || at + 1 == line.end) {
        return Expected(body_.empty() ? "a token before '##'" : "a token after '##'",
                        body_.empty() ? at : at + 1, line);
      }
      body_.back().flags |= Token::kPasteNext | Token::kRaw;
      pasting = true;
      continue;
    }
    // A space before the first token of the body is not part of it.
    const uint8_t layout = body_.empty() ? 0 : token.flags & Token::kSpaceBefore;
    // Only function macros have `#`; in others it is a token like any.
    const bool stringize = function && token.kind == TokenKind::kHash;
    if (stringize) {
      token = At(++at, line);
    }
    const uint32_t* parameter = token.is_word() ? parameters_.Find(token.symbol) : nullptr;
    if (stringize && parameter == nullptr) {
      return Expected("a parameter after '#'", at, line);
    }
    token.flags = layout;
    if (parameter != nullptr) {
      token.kind = TokenKind::kParameter;
      token.symbol = *parameter;
      token.flags |=
          static_cast<uint8_t>((stringize ? Token::kStringize : 0) | (pasting ? Token::kRaw : 0));
    }
    body_.push_back(token);
    pasting = false;
  }
  return true;
}

}  // namespace kiln::hlsl
