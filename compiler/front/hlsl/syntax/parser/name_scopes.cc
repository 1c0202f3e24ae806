// SPDX-License-Identifier: MIT
// The parser needs one bit of semantics: is this name a type? Most names never were anything
// but variables, so each symbol first says whether any declaration could give it a meaning;
// only then are scopes searched. Declarations that change nothing about that bit are not kept.
#include "compiler/front/hlsl/syntax/parser/name_scopes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace kiln::hlsl::syntax {
namespace {

// Words that are modifiers where nothing of their name is declared; the others are keywords.
// By number of the modifier; words that are always keywords never come here as names.
constexpr auto kContextual = std::to_array<std::pair<std::string_view, std::optional<Modifier>>>({
#define KILN_HLSL_MODIFIER(enumerator, text, is_keyword) \
  {text, (is_keyword) ? std::nullopt : std::optional(Modifier::k##enumerator)},
#include "compiler/front/hlsl/syntax/modifiers.def"
});

std::optional<Modifier> FindContextualModifier(std::string_view text) {
  const auto* row = std::ranges::find(kContextual, text, [](const auto& r) { return r.first; });
  return row == kContextual.end() ? std::nullopt : row->second;
}

}  // namespace

NameScopes::NameScopes(const SymbolTable& symbols)
    : symbols_(symbols),
      words_(symbols.size()),
      scopes_({{.outer = kNone, .names = Names::kKept}}) {}

// What a word means where nothing of its name is declared. Found once for each symbol, when it
// is first asked for.
void NameScopes::Learn(uint32_t symbol, Word& word) const {
  word.is_known = true;
  const std::string_view text = symbols_.Text(symbol);
  if (const std::optional<InbuiltType> inbuilt = FindInbuiltType(text)) {
    word.meaning = NameKind::kInbuilt;
    word.inbuilt = *inbuilt;
  } else if (const std::optional<Modifier> modifier = FindContextualModifier(text)) {
    word.meaning = NameKind::kModifier;
    word.modifier = *modifier;
  } else if (text == "unsigned") {
    word.meaning = NameKind::kUnsigned;
  }
}

// Scopes are rows and stay when they are left, since records and namespaces are entered again
// by name.
uint32_t NameScopes::Enter(Names names) {
  scopes_.push_back({.outer = current_, .names = names});
  current_ = static_cast<uint32_t>(scopes_.size() - 1);
  return current_;
}

// A local variable is worth remembering only if it hides something: its scope is gone before a type
// of that name could be declared around it.
void NameScopes::Declare(uint32_t symbol, NameKind kind, uint32_t scope) {
  Word& word = WordOf(symbol);
  const bool hides = word.is_declared || word.meaning != NameKind::kUnknown;
  if (kind == NameKind::kOther && !hides && scopes_[current_].names == Names::kForgotten) {
    return;
  }
  // `is_declared` says that a search through the scopes could find something; most names never
  // need one.
  word.is_declared |= kind != NameKind::kOther || hides;
  names_[KeyOf(current_, symbol)] = {.kind = kind, .scope = scope};
}

// A namespace may be opened again, and a prototype of a record may come before it: both get the
// scope that they had.
uint32_t NameScopes::DeclareScope(uint32_t symbol, NameKind kind) {
  const Name* before = names_.Find(KeyOf(current_, symbol));
  if (before != nullptr && before->kind == kind && before->scope != kNone) {
    return before->scope;
  }
  scopes_.push_back({.outer = current_, .names = Names::kKept});
  const auto scope = static_cast<uint32_t>(scopes_.size() - 1);
  Declare(symbol, kind, scope);
  return scope;
}

// From the innermost scope out. Depth is limited by nesting, so a search is short.
FoundName NameScopes::Find(uint32_t symbol) {
  const Word& word = WordOf(symbol);
  if (word.is_declared) {
    for (uint32_t scope = current_; scope != kNone; scope = scopes_[scope].outer) {
      if (const FoundName found = FindIn(scope, symbol); found.kind != NameKind::kUnknown) {
        return found;
      }
    }
  }
  return {.kind = word.meaning, .inbuilt = word.inbuilt, .modifier = word.modifier};
}

// In one scope only: what is behind a `::`.
FoundName NameScopes::FindIn(uint32_t scope, uint32_t symbol) const {
  const Name* name = names_.Find(KeyOf(scope, symbol));
  return name == nullptr ? FoundName{} : FoundName{.kind = name->kind, .scope = name->scope};
}

}  // namespace kiln::hlsl::syntax
