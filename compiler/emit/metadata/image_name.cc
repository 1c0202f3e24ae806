// SPDX-License-Identifier: MIT
#include "compiler/emit/metadata/image_name.h"

#include "compiler/ir/enum_names.h"

namespace kiln::metadata {

// Role, dimension, what it has many of. Whether an image holds depths may be unknown; it is a color
// then, since only a comparison needs depths.
std::string ImageName(const ir::ImageTraits& traits) {
  if (traits.dim == ir::ImageDim::kBuffer) {
    return traits.storage ? "storage_texel_buffer" : "texel_buffer";
  }
  std::string name = traits.storage ? "storage_image_"
                     : traits.depth ? "image_depth_"
                                    : "image_color_";
  name += ir::NameOf(traits.dim);
  name += traits.multisampled ? "_ms" : "";
  name += traits.arrayed ? "_array" : "";
  return name;
}

std::string_view TexelItem(ir::Scalar scalar) {
  if (ir::IsFloatScalar(scalar)) {
    return "";
  }
  return ir::IsSignedScalar(scalar) ? "sint" : "uint";
}

}  // namespace kiln::metadata
