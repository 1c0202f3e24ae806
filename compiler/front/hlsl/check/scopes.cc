// SPDX-License-Identifier: MIT
// Scopes form a tree and are never taken down: records and namespaces are entered again by
// name. All symbols are in one table under (scope, name), so a look-up costs one probe for each
// scope on the way out.
#include "compiler/front/hlsl/check/scopes.h"

namespace kiln::hlsl {
namespace {

// One table for all scopes, by scope and name.
uint64_t KeyOf(ScopeId scope, uint32_t name) { return uint64_t{scope.value} << 32 | name; }

}  // namespace

// The symbol that is there already stays, and is returned.
Symbol* Scopes::DeclareIn(ScopeId scope, uint32_t name, const Symbol& symbol) {
  if (Symbol* known = FindIn(scope, name); known != nullptr) {
    return known;
  }
  rows_.Insert(KeyOf(scope, name), static_cast<uint32_t>(symbols_.size()));
  symbols_.push_back(symbol);
  return nullptr;
}

Symbol* Scopes::FindIn(ScopeId scope, uint32_t name) {
  const uint32_t* row = rows_.Find(KeyOf(scope, name));
  return row == nullptr ? nullptr : &symbols_[*row];
}

// From inside out. Scopes nest as deep as the parser allows.
Symbol* Scopes::Find(ScopeId scope, uint32_t name) {
  for (; scope.valid(); scope = scopes_[scope.value].parent) {
    if (Symbol* found = FindIn(scope, name); found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

}  // namespace kiln::hlsl
