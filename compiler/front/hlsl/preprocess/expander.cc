// SPDX-License-Identifier: MIT
// Expansion with a stack of frames and no recursion but for arguments in arguments. A frame is
// a stretch of `pool_` that is being read; the pool is cut when its frame ends, so memory is
// that of the expansions that are open. Hidden names are a flag of their macro (active) and of
// tokens that met it then (kNoExpand), which is how C's rescan is defined.
#include "compiler/front/hlsl/preprocess/expander.h"

#include <algorithm>
#include <string>

namespace kiln::hlsl {

// The next token that is not the name of a macro which can be expanded. Text that a macro
// stands for is put on a stack of frames and read from there, so that it is scanned for macros
// again.
Token Expander::Next() {
  while (true) {
    Token token = NextRaw();
    const uint32_t row = MacroOf(token);
    if (row == MacroTable::kNone) {
      return token;
    }
    const Macro& macro = state_.macros[row];
    if (macro.kind != Macro::Kind::kObject && macro.kind != Macro::Kind::kFunction) {
      return BuiltIn(macro, token);
    }
    // A function macro without a parenthesis behind it is a name.
    if (macro.kind == Macro::Kind::kFunction && !NextIsOpenParen()) {
      return token;
    }
    const std::optional<Token> refused = Expand(row, token);
    if (refused.has_value()) {
      return *refused;
    }
  }
}

// From the innermost frame that has something left, else from the source. A frame that is read
// to its end is left, which shows its macro again.
Token Expander::NextRaw() {
  while (!frames_.empty() && !state_.stopped) {
    Frame& frame = frames_.back();
    if (frame.at < frame.end) {
      return pool_[frame.at++];
    }
    // A frame without a macro is the end of an argument that is expanded by itself: nothing
    // around it is read.
    if (frame.macro == MacroTable::kNone) {
      return {};
    }
    Leave();
  }
  return source_.Next();
}

// A name that stands in the text of its own macro is marked and never expanded again, wherever
// the token goes (the blue paint of C).
uint32_t Expander::MacroOf(Token& token) const {
  if (!token.is_word() || (token.flags & Token::kNoExpand) != 0) {
    return MacroTable::kNone;
  }
  const uint32_t row = state_.FindMacro(token.symbol);
  if (row != MacroTable::kNone && state_.macros[row].is_active) {
    token.flags |= Token::kNoExpand;
    return MacroTable::kNone;
  }
  return row;
}

// __LINE__, __FILE__: those of the outermost use. The clock's are refused.
Token Expander::BuiltIn(const Macro& macro, Token name) {
  if (macro.kind == Macro::Kind::kClock) {
    state_.Report(
        state_.stream.MakeAt(Code::kHlsl1030, name.origin).With("name", state_.Text(name.symbol)));
    name.kind = TokenKind::kString;
    name.symbol = state_.stream.symbols.Intern("\"\"");
    return name;
  }
  const FileTable::Position position = files_.PositionOf(name.origin);
  const bool line = macro.kind == Macro::Kind::kLine;
  const std::string text =
      line ? std::to_string(position.line) : FileTable::QuotedPath(position.path);
  name.kind = line ? TokenKind::kInteger : TokenKind::kString;
  name.symbol = state_.stream.symbols.Intern(text);
  return name;
}

// Reads the arguments and begins to read what stands for the macro. If it cannot be expanded its
// name is returned, as a name: that fits where most macros stand, so that nothing else goes wrong.
std::optional<Token> Expander::Expand(uint32_t row, Token name) {
  name.flags |= Token::kNoExpand;
  // Frames in each other are limited; arguments in arguments recurse over Expand and count by
  // these frames.
  if (frames_.size() >= state_.limits.macro_depth) {
    state_.Fail(state_.stream.MakeAt(Code::kHlsl1008, name.origin)
                    .With("text", Quoted(state_.Text(name.symbol)))
                    .With("limit", state_.limits.macro_depth));
    return name;
  }
  // Arguments of calls in each other lie on two stacks, and each call takes off what it put on.
  const size_t first_token = argument_tokens_.size();
  const size_t first_argument = arguments_.size();
  bool good = true;
  if (state_.macros[row].kind == Macro::Kind::kFunction) {
    good = Collect(row, name, first_argument);
    if (good) {
      ExpandArguments(state_.macros.Body(state_.macros[row]), first_argument, name.origin);
    }
  }
  if (good) {
    const std::span<const Argument> arguments = std::span(arguments_).subspan(first_argument);
    Enter(row, name, arguments);
  }
  argument_tokens_.resize(first_token);
  arguments_.resize(first_argument);
  return good ? std::nullopt : std::optional(name);
}

// Whether a call follows is decided without taking the token. Frames that are at their end are
// looked through, as if they had been left.
bool Expander::NextIsOpenParen() {
  for (size_t i = frames_.size(); i > 0; --i) {
    const Frame& frame = frames_[i - 1];
    if (frame.at < frame.end) {
      return pool_[frame.at].kind == TokenKind::kOpenParen;
    }
    if (frame.macro == MacroTable::kNone) {
      return false;
    }
  }
  return source_.NextIsOpenParen();
  // The parenthesis may stand in the next line, but not in the next file.
}

// Tokens up to the ')' that closes the call, cut at its commas. Line ends between them are spaces.
// Commas and parentheses inside of nested parentheses belong to an argument.
bool Expander::Collect(uint32_t row, const Token& name, size_t first_argument) {
  const Macro macro = state_.macros[row];
  NextRaw();  // '('
  size_t found = 1;
  uint32_t depth = 0;
  arguments_.push_back({.first = static_cast<uint32_t>(argument_tokens_.size())});
  while (true) {
    Token token = NextRaw();
    if (token.kind == TokenKind::kEnd) {
      if (!state_.stopped) {
        state_.Report(state_.stream.MakeAt(Code::kHlsl1003, name.origin)
                          .With("kind", "call of macro")
                          .With("text", Quoted(state_.Text(name.symbol))));
      }
      return false;
    }
    if (token.kind == TokenKind::kCloseParen && depth == 0) {
      break;
    }
    if (token.kind == TokenKind::kComma && depth == 0) {
      ++found;
      // All that is left of a variadic call is one argument, commas and all.
      const bool rest = macro.is_variadic && found > macro.parameters;
      if (!rest) {
        if (found <= macro.parameters) {  // of those that are too many only the number counts
          arguments_.push_back({.first = static_cast<uint32_t>(argument_tokens_.size())});
        }
        continue;
      }
    }
    depth += token.kind == TokenKind::kOpenParen ? 1 : 0;
    depth -= token.kind == TokenKind::kCloseParen ? 1 : 0;
    if (token.starts_line()) {
      token.flags = static_cast<uint8_t>((token.flags & ~Token::kLayout) | Token::kSpaceBefore);
    }
    // A name that is hidden now stays so, though the argument is expanded later, when its macro
    // is not active.
    MacroOf(token);  // marks it
    // Each token counts against the limit of what macros make.
    if (!state_.Make(1, name.origin)) {
      return false;
    }
    argument_tokens_.push_back(token);
    ++arguments_.back().count;
  }
  return CountFits(macro, name, first_argument, found);
}

// An empty list is no argument of a macro without parameters and an empty one of others. The
// variable arguments may be missing.
// spec/hlsl 4.1, as in C.
bool Expander::CountFits(const Macro& macro, const Token& name, size_t first_argument,
                         size_t found) {
  const bool empty = found == 1 && arguments_[first_argument].count == 0;
  if (empty && macro.parameters == 0) {
    found = 0;
    arguments_.pop_back();
  }
  if (macro.is_variadic && found + 1 == macro.parameters) {
    ++found;
    arguments_.push_back({.first = static_cast<uint32_t>(argument_tokens_.size())});
  }
  if (found == macro.parameters || (macro.is_variadic && found > macro.parameters)) {
    return true;
  }
  Diagnostic error = state_.stream.MakeAt(Code::kHlsl1026, name.origin)
                         .With("name", Quoted(state_.Text(name.symbol)))
                         .With("expected", macro.parameters)
                         .With("found", found);
  if (macro.has_place) {
    error.labels.push_back({.kind = LabelKind::kDeclaredHere,
                            .where = state_.stream.Where(macro.origin),
                            .arguments = {{"name", Quoted(state_.Text(name.symbol))}}});
  }
  state_.Report(std::move(error));
  return false;
}

// Each argument that the body has outside of '#' and '##' is expanded once, by itself.
// An argument that the body mentions ten times is expanded once and copied.
void Expander::ExpandArguments(std::span<const Token> body, size_t first_argument,
                               uint32_t origin) {
  for (const Token& token : body) {
    const bool wanted = token.kind == TokenKind::kParameter &&
                        (token.flags & (Token::kRaw | Token::kStringize)) == 0;
    if (wanted && !arguments_[first_argument + token.symbol].is_expanded) {
      ExpandArgument(first_argument + token.symbol, origin);
    }
  }
}

// As if it were a source of its own: a frame without a macro ends it. Without a macro's name in
// it the tokens themselves are the expansion.
void Expander::ExpandArgument(size_t number, uint32_t origin) {
  Argument argument = arguments_[number];
  argument.is_expanded = true;
  argument.expanded_first = argument.first;
  argument.expanded_count = argument.count;
  if (HasMacro(argument)) {
    const auto first = static_cast<uint32_t>(pool_.size());
    const auto begin = argument_tokens_.begin() + argument.first;
    pool_.insert(pool_.end(), begin, begin + argument.count);
    frames_.push_back({.at = first, .end = first + argument.count, .macro = MacroTable::kNone});
    argument.expanded_first = static_cast<uint32_t>(argument_tokens_.size());
    // Next may recurse into Expand for calls in the argument; what these put on the stacks is
    // gone when it returns.
    for (Token token = Next(); token.kind != TokenKind::kEnd; token = Next()) {
      if (!state_.Make(1, origin)) {
        break;
      }
      argument_tokens_.push_back(token);
    }
    argument.expanded_count =
        static_cast<uint32_t>(argument_tokens_.size()) - argument.expanded_first;
    // Behind an error frames are left that would otherwise end by being read.
    while (frames_.back().macro != MacroTable::kNone) {
      Leave();
    }
    Leave();
  }
  arguments_[number] = argument;
}

bool Expander::HasMacro(const Argument& argument) const {
  const auto tokens = std::span(argument_tokens_).subspan(argument.first, argument.count);
  return std::ranges::any_of(tokens, [&](const Token& token) {
    return token.is_word() && state_.FindMacro(token.symbol) != MacroTable::kNone;
  });
}

// The tokens that stand for one use. A macro of the source makes a context, so that diagnostics
// can say where it was used; predefined ones have no place.
void Expander::Enter(uint32_t row, const Token& name, std::span<const Argument> arguments) {
  Macro& macro = state_.macros[row];
  const auto first = static_cast<uint32_t>(pool_.size());
  MacroUse use{.macro = macro, .name = name, .arguments = arguments, .tokens = argument_tokens_};
  if (macro.has_place) {
    use.context = state_.stream.origins.AddContext(
        {.kind = Context::Kind::kMacro, .what = macro.name, .cause = name.origin});
  }
  if (state_.Make(1, name.origin)) {
    Substitute(use, state_, pool_);
  }
  // Hidden until the frame is left.
  macro.is_active = true;
  frames_.push_back({.at = first, .end = static_cast<uint32_t>(pool_.size()), .macro = row});
}

// The pool shrinks to the frame below, so it is as large as what is being read, not as all that
// was.
void Expander::Leave() {
  const Frame frame = frames_.back();
  frames_.pop_back();
  pool_.resize(frames_.empty() ? 0 : frames_.back().end);
  if (frame.macro != MacroTable::kNone) {
    state_.macros[frame.macro].is_active = false;
  }
}

}  // namespace kiln::hlsl
