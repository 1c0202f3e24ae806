// SPDX-License-Identifier: MIT
// Which names are types where the parser is: without that, `(a) - b` may be a cast or a difference,
// and `a * b` is an expression, `a b` a declaration. Nothing else about names is known here; that
// they are declared twice or not at all is found by semantic analysis.
//
// Most identifiers of a module never are a type, so a byte for each symbol answers first: only
// names that somewhere are one, or that hide an inbuilt type or modifier, are looked up in scopes.
// Names of namespaces, records and enums stay when their scope is left, because `N::T` asks for
// them and a namespace may be opened again. See spec/hlsl 5.2, 5.3
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/front/hlsl/symbol_table.h"
#include "compiler/front/hlsl/syntax/ast.h"
#include "compiler/front/hlsl/syntax/inbuilt_types.h"

namespace kiln::hlsl::syntax {

enum class NameKind : uint8_t {
  kUnknown,  // not declared where it stands
  kOther,    // a variable, function or enumerator
  kType,     // record, enum, alias
  kNamespace,
  kInbuilt,   // type
  kUnsigned,  // the word 'unsigned'
  kModifier,  // contextual
};

struct FoundName {
  NameKind kind = NameKind::kUnknown;
  uint32_t scope = kNone;  // that `::` behind it looks in
  InbuiltType inbuilt{};   // of kInbuilt
  Modifier modifier{};     // of kModifier
};

class NameScopes {
 public:
  static constexpr uint32_t kUnit = 0;

  // `symbols` outlives it and does not grow any more.
  explicit NameScopes(const SymbolTable& symbols);

  // Whether names of a scope are asked for when it is left.
  enum class Names : uint8_t { kForgotten, kKept };
  // A scope inside the current one, which becomes it.
  uint32_t Enter(Names names);
  void Enter(uint32_t scope) { current_ = scope; }  // one that was made before
  void Leave() { current_ = scopes_[current_].outer; }
  uint32_t current() const { return current_; }

  // In the current scope; a later one of the same name replaces the earlier. `scope`: of a record,
  // enum or namespace, or that an alias stands for.
  void Declare(uint32_t symbol, NameKind kind, uint32_t scope = kNone);
  // A scope for the members of a type or namespace, which is the one that it had before if it is
  // declared here already.
  uint32_t DeclareScope(uint32_t symbol, NameKind kind);

  // Can it be more than a plain name, whatever the scope? Most names cannot.
  bool IsSpecial(uint32_t symbol) {
    const Word& word = WordOf(symbol);
    return word.is_declared || word.meaning != NameKind::kUnknown;
  }
  FoundName Find(uint32_t symbol);                          // from the current scope outwards
  FoundName FindIn(uint32_t scope, uint32_t symbol) const;  // there only

 private:
  struct Scope {
    uint32_t outer;
    Names names;
  };
  struct Name {
    NameKind kind;
    uint32_t scope;
  };
  // What is known of a symbol wherever it stands; filled when it is first asked for.
  struct Word {
    bool is_known = false;                  // what follows is filled
    bool is_declared = false;               // somewhere, so that scopes have to be asked
    NameKind meaning = NameKind::kUnknown;  // without a declaration
    InbuiltType inbuilt{};
    Modifier modifier{};
  };

  static uint64_t KeyOf(uint32_t scope, uint32_t symbol) {
    return (uint64_t{scope} << 32) | symbol;
  }
  Word& WordOf(uint32_t symbol) {
    Word& word = words_[symbol];
    if (!word.is_known) {
      Learn(symbol, word);
    }
    return word;
  }
  void Learn(uint32_t symbol, Word& word) const;

  const SymbolTable& symbols_;
  std::vector<Word> words_;  // by symbol
  std::vector<Scope> scopes_;
  FlatMap<uint64_t, Name> names_;
  uint32_t current_ = kUnit;
};

}  // namespace kiln::hlsl::syntax
