// SPDX-License-Identifier: MIT
#include "compiler/layout/item_format.h"

#include "compiler/base/check.h"

namespace kiln::layout {

// Which combinations exist was checked when the field was specialised (spec/rpl 10.2); the others
// map to the nearest.
ItemFormat FormatOf(ir::PackClass pack, uint32_t bits) {
  const auto pick = [bits](ItemFormat of8, ItemFormat of16, ItemFormat of32) {
    // Widths that do not exist never get here.
    return bits == 8 ? of8 : bits == 16 ? of16 : of32;
  };
  switch (pack) {
    case ir::PackClass::kFloat:
      return pick(ItemFormat::kFloat16, ItemFormat::kFloat16, ItemFormat::kFloat32);
    case ir::PackClass::kUnorm:
      return pick(ItemFormat::kUnorm8, ItemFormat::kUnorm16, ItemFormat::kUnorm16);
    case ir::PackClass::kSnorm:
      return pick(ItemFormat::kSnorm8, ItemFormat::kSnorm16, ItemFormat::kSnorm16);
    case ir::PackClass::kUint:
      return pick(ItemFormat::kUint8, ItemFormat::kUint16, ItemFormat::kUint32);
    case ir::PackClass::kSint:
      return pick(ItemFormat::kSint8, ItemFormat::kSint16, ItemFormat::kSint32);
    case ir::PackClass::kDefault:
      break;
  }
  KILN_CHECK(false, "pack class {} of {} bits", pack, bits);
  KILN_UNREACHABLE();
}

}  // namespace kiln::layout
