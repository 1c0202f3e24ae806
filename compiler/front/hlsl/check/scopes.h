// SPDX-License-Identifier: MIT
// What names mean where. A scope is a row; names of namespaces, structs and enumerations stay, so
// that `N::x` finds them, those of blocks are never looked at again. Cost of a look-up: one hash
// for each scope around the place.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/front/hlsl/check/tree.h"

namespace kiln::hlsl {

using ScopeId = Id<struct HlslScopeTag>;

enum class SymbolKind : uint8_t {
  kLocal,
  kGlobal,
  kFunctions,  // id: row of `overloads`
  kType,       // id: TypeId; b: ScopeId of its names, or kNoRow
  kNamespace,  // id: ScopeId
  kOption,
  kEnumerator,   // id: number of it; type: its enumeration
  kBlockMember,  // id: GlobalId of the block; b: member
  kMember,       // of the struct `type`: a method means that of its object
};
struct Symbol {
  SymbolKind kind = SymbolKind::kLocal;
  uint32_t id = 0;
  uint32_t b = 0;
  TypeId type;
  uint32_t token = kNoRow;  // where it was declared
};

class Scopes {
 public:
  Scopes() { scopes_.push_back({}); }

  ScopeId global() const { return ScopeId{0}; }
  ScopeId current() const { return current_; }
  ScopeId Enter() { return Enter(ScopeId{Add(current_)}); }
  ScopeId Enter(ScopeId scope) {
    current_ = scope;
    return scope;
  }
  void Leave() { current_ = scopes_[current_.value].parent; }
  ScopeId NewScope(ScopeId parent) { return ScopeId{Add(parent)}; }

  // The symbol that has the name now; null if it had none: then it has this one.
  Symbol* Declare(uint32_t name, const Symbol& symbol) { return DeclareIn(current_, name, symbol); }
  Symbol* DeclareIn(ScopeId scope, uint32_t name, const Symbol& symbol);
  // In the scope alone. Valid until the next declaration.
  Symbol* FindIn(ScopeId scope, uint32_t name);
  // In the scope and those around it.
  Symbol* Find(ScopeId scope, uint32_t name);
  Symbol* Find(uint32_t name) { return Find(current_, name); }

  // The functions of one name in one scope.
  std::vector<std::vector<FunctionId>> overloads;

 private:
  struct Scope {
    ScopeId parent;
  };
  uint32_t Add(ScopeId parent) {
    scopes_.push_back({parent});
    return static_cast<uint32_t>(scopes_.size() - 1);
  }

  std::vector<Scope> scopes_;
  std::vector<Symbol> symbols_;
  FlatMap<uint64_t, uint32_t> rows_;  // (scope, name) → row of symbols_
  ScopeId current_{0};
};

}  // namespace kiln::hlsl
