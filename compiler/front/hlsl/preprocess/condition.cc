// SPDX-License-Identifier: MIT
// `#if` is read by the same expander as everything else, and its tokens go to the arithmetic
// one by one. `defined` takes its name before it could be expanded. What is wrong is HLSL1031
// for the whole line, and the condition is then false.
#include "compiler/front/hlsl/preprocess/condition.h"

#include <limits>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/lex/number_form.h"

namespace kiln::hlsl {
namespace {

// A name that would say for which stage or target the module is compiled, if it were known.
// spec/hlsl 4.3: one module serves all of them, so such a name is never defined; testing it is
// warned about.
bool DependsOnTarget(std::string_view name) {
  return name == "__SHADER_TARGET_STAGE" || name.starts_with("__SHADER_STAGE_") ||
         (name.starts_with("__SPIRV_") && name.ends_with("_VERSION__"));
}

}  // namespace

Condition::Condition(FileStack& files, FileTable& table, PreprocessState& state)
    : files_(files),
      state_(state),
      line_(files),
      expander_(line_, table, state),
      expression_(state.limits.nesting, state.limits.terms) {}

// After an error the rest of the line is read all the same, so that no macro stays hidden.
// The expander is this line's own: its tokens are those of the directive and end with it.
bool Condition::Evaluate(const DirectiveLine& line) {
  where_ = line;
  at_ = files_.Delivered(line.name).origin;
  expression_.Clear();
  line_.Begin(line.at, line.end);
  // Where the error is: the last token that was right, or the one that was not.
  bool good = true;
  for (Token token = expander_.Next(); token.kind != TokenKind::kEnd; token = expander_.Next()) {
    CheckStop();
    at_ = good ? token.origin : at_;
    good = good && Add(token);
  }
  if (!good || state_.stopped) {
    return false;
  }
  const std::optional<IfValue> value = expression_.Finish();
  return value.has_value() ? value->bits != 0 : Wrong();
}

// The macros of the clock are there to be refused where they are used, and count as not
// defined.
bool Condition::IsDefined(const Token& name) {
  const uint32_t row = state_.FindMacro(name.symbol);
  if (row != MacroTable::kNone) {
    return state_.macros[row].kind != Macro::Kind::kClock;
  }
  if (DependsOnTarget(state_.Text(name.symbol))) {
    state_.Report(
        state_.stream.MakeAt(Code::kHlsl1036, name.origin).With("name", state_.Text(name.symbol)));
  }
  return false;
}

// Words that are no macro are 0, but for `true`; `defined` looks at the name behind it before
// anything is expanded.
bool Condition::Add(const Token& token) {
  if (token.kind == TokenKind::kInteger) {
    return AddNumber(token);
  }
  if (token.kind == TokenKind::kTrue || token.kind == TokenKind::kFalse) {
    return Check(expression_.AddValue({.bits = token.kind == TokenKind::kTrue ? 1u : 0u}));
  }
  if (!token.is_word()) {
    return Check(expression_.AddToken(token.kind));
  }
  return token.symbol == kWordDefined ? AddDefined() : AddName(token);
}

bool Condition::AddNumber(const Token& token) {
  const std::string_view text = state_.Text(token.symbol);
  const std::optional<Integer> number = IntegerValue(text);
  if (!number.has_value()) {
    state_.Report(state_.stream.MakeAt(Code::kHlsl1006, token.origin)
                      .With("text", Quoted(text))
                      .With("bits", 64));
    return false;
  }
  // spec/hlsl 4.1: signed, unless the number has a `u` or does not fit.
  const bool large = number->value > uint64_t{std::numeric_limits<int64_t>::max()};
  return Check(
      expression_.AddValue({.bits = number->value, .is_unsigned = number->is_unsigned || large}));
}

// Names that were 0 because nothing defines them are kept, each once: editors and lints ask for
// them.
bool Condition::AddName(const Token& name) {
  if (!IsDefined(name)) {
    // Symbols grow with the module, so there is room for half as many again.
    if (name.symbol >= undefined_.size()) {
      undefined_.resize(name.symbol + name.symbol / 2 + 64);
    }
    // A macro that the request chooses is no option of the source, and lists that leave the same
    // tokens should leave the same of everything.
    if (!undefined_[name.symbol] &&
        FindMacro(state_.choices, state_.Text(name.symbol)) == nullptr) {
      undefined_[name.symbol] = true;
      state_.stream.undefined_names.push_back({.symbol = name.symbol, .origin = name.origin});
    }
  }
  return Check(expression_.AddValue({.bits = 0}));
}

// `defined NAME` or `defined (NAME)`, of the line or of a macro.
bool Condition::AddDefined() {
  Token name = expander_.NextRaw();
  const bool opened = name.kind == TokenKind::kOpenParen;
  if (opened) {
    name = expander_.NextRaw();
  }
  if (!name.is_word()) {
    return Wrong();
  }
  const bool defined = IsDefined(name);
  if (opened && expander_.NextRaw().kind != TokenKind::kCloseParen) {
    return Wrong();
  }
  return Check(expression_.AddValue({.bits = defined ? 1u : 0u}));
}

// What the arithmetic says becomes a diagnostic here, as only this knows the place.
bool Condition::Check(IfExpression::Step step) {
  switch (step) {
    case IfExpression::Step::kGood:
      return true;
    case IfExpression::Step::kWrong:
      return Wrong();
    case IfExpression::Step::kTooDeep:
      state_.Report(state_.stream.MakeAt(Code::kHlsl1008, at_)
                        .With("text", "(")
                        .With("limit", state_.limits.nesting));
      return false;
    case IfExpression::Step::kTooMany:
      state_.FailSize("'#if'", "too many operands", state_.limits.terms, at_);
      return false;
  }
  KILN_UNREACHABLE();
}

bool Condition::Wrong() {
  if (!state_.stopped) {
    const std::span<const Token> text =
        std::span(state_.lexed.rows).subspan(where_.at, where_.end - where_.at);
    state_.Report(state_.stream.MakeAt(Code::kHlsl1031, at_)
                      .With("text", Quoted(TextOf(text, state_.stream.symbols))));
  }
  return false;
}

}  // namespace kiln::hlsl
