// SPDX-License-Identifier: MIT
// Facts of image_formats.def as data, and the format that an item has where nothing is written.
#pragma once

#include <optional>
#include <string_view>

#include "compiler/front/hlsl/sema/type.h"
#include "compiler/ir/types.h"

namespace kiln::hlsl {

struct ImageFormatRow {
  std::string_view name;
  ir::ImageFormat format;
  ItemClass item_class;
};
inline constexpr ImageFormatRow kImageFormats[] = {
#define KILN_IMAGE_FORMAT(name, format, item_class) \
  {name, ir::ImageFormat::k##format, ItemClass::k##item_class},
#include "compiler/front/hlsl/sema/image_formats.def"
};

// The format of that name, if its items are of the class; nothing else.
constexpr std::optional<ir::ImageFormat> FindImageFormat(std::string_view name, Item item) {
  for (const ImageFormatRow& row : kImageFormats) {
    if (row.name == name && row.item_class == FactsOf(item).item_class) {
      return row.format;
    }
  }
  return name == "unknown" ? std::optional(ir::ImageFormat::kUnknown) : std::nullopt;
}

}  // namespace kiln::hlsl
