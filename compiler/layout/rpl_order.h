// SPDX-License-Identifier: MIT
// The order of RPL's declarations inside a module. See spec/layout 7.4; spec/rpl 8.1, 10.1.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/ir/specialised.h"
#include "compiler/ir/types.h"

namespace kiln::layout {

enum class RplGroup : uint8_t {
  kContainers,
  kUniformBuffers,
  kReadOnlyBuffers,
  kPushConstants,
  kSamplers,
  kColor2d,
  kColor3d,
  kColorCube,
  kColor2dArray,
  kDepth2d,
  kDepth3d,
  kDepthCube,
  kDepth2dArray,
  kReadWriteBuffers,
  kStorageImages,
};

// Requires: a declaration that can be part of an interface.
RplGroup GroupOf(const ir::Pool& pool, const ir::SpecialisedDecl& decl);

// The group of a keyword, "image_color_2d"; nothing for any other text.
std::optional<RplGroup> GroupOfKeyword(std::string_view keyword);

}  // namespace kiln::layout
