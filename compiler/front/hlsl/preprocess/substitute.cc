// SPDX-License-Identifier: MIT
// One walk over the body. '##' is done as soon as its right side is there, so the last token of
// what was appended is its left side; an argument without tokens is a kNothing for it, and these go
// in the end.
#include "compiler/front/hlsl/preprocess/substitute.h"

#include <algorithm>
#include <optional>
#include <string>

#include "compiler/front/hlsl/lex/lex.h"

namespace kiln::hlsl {
namespace {

// Bytes of a new spelling that count as much as a token.
constexpr uint64_t kBytesPerToken = 16;

class Substitution {
 public:
  Substitution(const MacroUse& use, PreprocessState& state, std::vector<Token>& out)
      : use_(use), state_(state), out_(out), first_(out.size()) {}

  void Run() {
    const std::span<const Token> body = state_.macros.Body(use_.macro);
    for (size_t i = 0; i < body.size() && !state_.stopped; ++i) {
      const Token& token = body[i];
      if (token.kind != TokenKind::kParameter) {
        Append(Placed(token));
      } else if ((token.flags & Token::kStringize) != 0) {
        Append(Stringized(token));
      } else if (i > 0 && IsOptionalComma(body[i - 1], token)) {
        AppendBehindComma(token);
      } else {
        AppendArgument(token);
      }
      // A `##` behind this token is done when the next one is appended.
      pasting_ = (token.flags & Token::kPasteNext) != 0;
    }
    if (has_nothing_) {
      const auto from = out_.begin() + static_cast<std::ptrdiff_t>(first_);
      out_.erase(std::remove_if(from, out_.end(),
                                [](const Token& t) { return t.kind == TokenKind::kNothing; }),
                 out_.end());
    }
    // The first token takes the layout of the name that stood there.
    if (out_.size() > first_) {
      SetLayout(out_[first_], use_.name.flags);
    }
  }

 private:
  static void SetLayout(Token& token, uint8_t flags) {
    token.flags = static_cast<uint8_t>((token.flags & ~Token::kLayout) | (flags & Token::kLayout));
  }

  // A token of the body is where it is written, in the context of this use. Predefined macros
  // have no place: then it is where the name is.
  uint32_t Origin(const Token& token) const {
    return use_.macro.has_place ? state_.stream.origins.Place(token.origin, use_.context)
                                : use_.name.origin;
  }

  Token Placed(Token token) const {
    token.origin = Origin(token);
    token.flags &= Token::kSpaceBefore;
    return token;
  }

  // Stands for an argument without tokens beside a `##`, so that there is something to paste.
  Token Nothing(const Token& parameter) {
    has_nothing_ = true;
    Token nothing = Placed(parameter);
    nothing.kind = TokenKind::kNothing;
    nothing.symbol = static_cast<uint32_t>(TokenKind::kNothing);
    return nothing;
  }

  // Counted one by one, for each may be pasted.
  void Append(const Token& token) {
    if (!state_.Make(1, use_.name.origin)) {
      return;
    }
    if (pasting_ && out_.size() > first_) {
      pasting_ = false;
      Paste(token);
    } else {
      out_.push_back(token);
    }
  }

  // Beside `##` the argument as written, elsewhere the expanded one.
  void AppendArgument(const Token& parameter) {
    const Argument& argument = use_.arguments[parameter.symbol];
    const bool raw = (parameter.flags & Token::kRaw) != 0;
    const std::span<const Token> tokens =
        raw ? use_.tokens.subspan(argument.first, argument.count)
            : use_.tokens.subspan(argument.expanded_first, argument.expanded_count);
    if (tokens.empty()) {
      if (raw) {
        Append(Nothing(parameter));
      }
      return;
    }
    // The first token takes the layout of the parameter; those behind it keep theirs.
    Token first = tokens[0];
    SetLayout(first, parameter.flags);
    Append(first);
    if (state_.Make(tokens.size() - 1, use_.name.origin)) {
      out_.insert(out_.end(), tokens.begin() + 1, tokens.end());
    }
  }

  // `, ## __VA_ARGS__`, as many compilers have it: the comma goes if nothing follows it, and
  // nothing is pasted.
  bool IsOptionalComma(const Token& before, const Token& parameter) const {
    return use_.macro.is_variadic && parameter.symbol + 1 == use_.macro.parameters &&
           before.kind == TokenKind::kComma && (before.flags & Token::kPasteNext) != 0;
  }

  // The comma became a side of `##` in the definition; here nothing is pasted, and it goes if
  // nothing follows.
  void AppendBehindComma(const Token& parameter) {
    pasting_ = false;
    if (use_.arguments[parameter.symbol].count != 0) {
      AppendArgument(parameter);
    } else if (out_.size() > first_ && out_.back().kind == TokenKind::kComma) {
      out_.back().kind = TokenKind::kNothing;
      has_nothing_ = true;
    }
  }

  // '#': the argument as written, one space where there was any, in quotes; what is quoted in it,
  // and backslashes there, are escaped.
  Token Stringized(const Token& parameter) {
    const Argument& argument = use_.arguments[parameter.symbol];
    std::string text = "\"";
    for (const Token& token : use_.tokens.subspan(argument.first, argument.count)) {
      if (text.size() > 1 && (token.flags & Token::kLayout) != 0) {
        text += ' ';
      }
      const bool quoted = token.kind == TokenKind::kString || token.kind == TokenKind::kOpenString;
      for (const char c : state_.Text(token.symbol)) {
        if (quoted && (c == '"' || c == '\\')) {
          text += '\\';
        }
        text += c;
      }
      // A string grows with its argument, so it is limited while it is made: its argument may
      // be repeated by macros in macros.
      if (text.size() > size_t{state_.limits.string} + 1) {
        state_.FailSize("string '" + Quoted(text) + "'", "too many bytes", state_.limits.string,
                        use_.name.origin);
        break;
      }
    }
    text += '"';
    Token string = Placed(parameter);
    // An argument that ends in a backslash can make text that is no string; then it is an open
    // one.
    const std::optional<Token> whole = Single(text);
    string.kind = whole.has_value() ? whole->kind : TokenKind::kOpenString;
    string.symbol = whole.has_value() ? whole->symbol : state_.stream.symbols.Intern(text);
    return string;
  }

  // The token that a new spelling is, which counts by its size.
  std::optional<Token> Single(std::string_view text) {
    if (!state_.Make(text.size() / kBytesPerToken, use_.name.origin)) {
      return std::nullopt;
    }
    return LexSingle(text, state_.stream.symbols);
  }

  // '##' of the last token of `out_` and this one.
  // With nothing on the right the left side stays; with nothing on the left the right one does.
  void Paste(const Token& right) {
    Token& left = out_.back();
    if (right.kind == TokenKind::kNothing) {
      return;
    }
    if (left.kind == TokenKind::kNothing) {
      const uint8_t flags = left.flags;
      left = right;
      SetLayout(left, flags);
      return;
    }
    const std::string text =
        std::string(state_.Text(left.symbol)) + std::string(state_.Text(right.symbol));
    if (text.size() > size_t{state_.limits.string} + 2) {
      state_.FailSize("token '" + Quoted(text) + "'", "too many bytes", state_.limits.string,
                      use_.name.origin);
      return;
    }
    const std::optional<Token> whole = Single(text);
    // What was pasted may be the name of a macro: it is not marked.
    if (whole.has_value()) {
      left.kind = whole->kind;
      left.symbol = whole->symbol;
      left.flags &= Token::kLayout;
      return;
    }
    // Both tokens stay if they make none, and there is one error (HLSL1029).
    if (!state_.stopped) {
      state_.Report(
          state_.stream.MakeAt(Code::kHlsl1029, use_.name.origin).With("text", Quoted(text)));
    }
    out_.push_back(right);
  }

  const MacroUse& use_;
  PreprocessState& state_;
  std::vector<Token>& out_;
  size_t first_;
  bool pasting_ = false;
  bool has_nothing_ = false;
};

}  // namespace

void Substitute(const MacroUse& use, PreprocessState& state, std::vector<Token>& out) {
  Substitution(use, state, out).Run();
}

}  // namespace kiln::hlsl
