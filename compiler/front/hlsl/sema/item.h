// SPDX-License-Identifier: MIT
// Items: what scalars, vectors and matrices are made of. Facts of items.def as data.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/ir/types.h"

namespace kiln::hlsl {

enum class Item : uint8_t {
#define KILN_ITEM(item, name, item_class, scalar, rank) k##item,
#include "compiler/front/hlsl/sema/items.def"
};
enum class ItemClass : uint8_t { kBool, kSigned, kUnsigned, kFloat };

struct ItemFacts {
  std::string_view name;
  ItemClass item_class;
  ir::Scalar scalar;
  uint8_t rank;
};
inline constexpr ItemFacts kItemFacts[] = {
#define KILN_ITEM(item, name, item_class, scalar, rank) \
  {name, ItemClass::k##item_class, ir::Scalar::k##scalar, rank},
#include "compiler/front/hlsl/sema/items.def"
};
inline constexpr uint32_t kItemCount = sizeof(kItemFacts) / sizeof(kItemFacts[0]);

constexpr const ItemFacts& FactsOf(Item item) { return kItemFacts[static_cast<size_t>(item)]; }
constexpr bool IsFloat(Item item) { return FactsOf(item).item_class == ItemClass::kFloat; }
constexpr bool IsInteger(Item item) {
  return FactsOf(item).item_class == ItemClass::kSigned ||
         FactsOf(item).item_class == ItemClass::kUnsigned;
}
constexpr bool IsSigned(Item item) { return FactsOf(item).item_class == ItemClass::kSigned; }
constexpr bool IsLiteral(Item item) {
  return item == Item::kLiteralInt || item == Item::kLiteralFloat;
}
// Does this build lower it? Of the others the family is refused (HLSL8004).
constexpr bool IsBuilt(Item item) { return FactsOf(item).scalar != ir::Scalar::kNone; }
// Two items that are one and the same in the IR.
constexpr bool AreOneScalar(Item a, Item b) { return FactsOf(a).scalar == FactsOf(b).scalar; }

}  // namespace kiln::hlsl
