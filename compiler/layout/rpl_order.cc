// SPDX-License-Identifier: MIT
#include "compiler/layout/rpl_order.h"

#include <algorithm>
#include <iterator>

#include "compiler/base/check.h"

namespace kiln::layout {
namespace {

struct Keyword {
  std::string_view text;
  RplGroup group;
};
// Words of version 1 and 2 of the language; several of them are one group.
constexpr Keyword kKeywords[] = {
    {"vertex_attribute_container", RplGroup::kContainers},
    {"instanced_attribute_container", RplGroup::kContainers},
    {"state_container", RplGroup::kContainers},
    {"color_output_container", RplGroup::kContainers},
    {"uniform_buffer", RplGroup::kUniformBuffers},
    {"read_only_storage_buffer", RplGroup::kReadOnlyBuffers},
    {"push_constant", RplGroup::kPushConstants},
    {"sampler", RplGroup::kSamplers},
    {"image_color_2d", RplGroup::kColor2d},
    {"image_color_3d", RplGroup::kColor3d},
    {"image_color_cube", RplGroup::kColorCube},
    {"image_color_2d_array", RplGroup::kColor2dArray},
    {"image_depth_2d", RplGroup::kDepth2d},
    {"image_depth_3d", RplGroup::kDepth3d},
    {"image_depth_cube", RplGroup::kDepthCube},
    {"image_depth_2d_array", RplGroup::kDepth2dArray},
    {"read_write_storage_buffer", RplGroup::kReadWriteBuffers},
    {"storage_image_2d", RplGroup::kStorageImages},
    {"storage_image_3d", RplGroup::kStorageImages},
    {"storage_image_2d_array", RplGroup::kStorageImages},
};

RplGroup GroupOfBuffer(ir::BufferKind kind) {
  switch (kind) {
    case ir::BufferKind::kUniform:
      return RplGroup::kUniformBuffers;
    case ir::BufferKind::kReadOnlyStorage:
      return RplGroup::kReadOnlyBuffers;
    case ir::BufferKind::kReadWriteStorage:
      return RplGroup::kReadWriteBuffers;
  }
  KILN_UNREACHABLE();
}

// Groups of images follow each other as the dimensions do, first the colour images and then the
// depth images, so the group is computed from the two.
// The order of the enumerators is what makes that right: 2d, 3d, cube, 2d_array.
RplGroup GroupOfImage(const ir::Pool& pool, ir::TypeId type) {
  // An array of images is in the group of its items.
  while (pool[type].kind == ir::TypeKind::kArray) {
    type = ir::TypeId{pool[type].element};
  }
  const ir::ImageTraits traits = ir::UnpackImage(pool[type].extent);
  if (traits.storage) {
    return RplGroup::kStorageImages;
  }
  const RplGroup first = traits.depth ? RplGroup::kDepth2d : RplGroup::kColor2d;
  const uint32_t shape = traits.arrayed ? 3 : static_cast<uint32_t>(traits.dim);
  return static_cast<RplGroup>(static_cast<uint32_t>(first) + shape);
}

}  // namespace

// spec/layout 7.4: numbers are given group by group.
RplGroup GroupOf(const ir::Pool& pool, const ir::SpecialisedDecl& decl) {
  switch (decl.kind) {
    case ir::DeclKind::kContainer:
      return RplGroup::kContainers;
    case ir::DeclKind::kBuffer:
      return GroupOfBuffer(decl.buffer());
    case ir::DeclKind::kPushConstant:
      return RplGroup::kPushConstants;
    case ir::DeclKind::kSampler:
      return RplGroup::kSamplers;
    case ir::DeclKind::kImage:
      return GroupOfImage(pool, decl.type);
    case ir::DeclKind::kConstant:
    case ir::DeclKind::kSetting:
    case ir::DeclKind::kStruct:
    case ir::DeclKind::kFunction:
    case ir::DeclKind::kWorkgroup:
    case ir::DeclKind::kPrivate:
    case ir::DeclKind::kEntry:
      break;
  }
  KILN_CHECK(false, "a declaration of kind {} has no place in an interface", decl.kind);
  KILN_UNREACHABLE();
}

// Asked by case files only, so twenty rows are searched in order.
std::optional<RplGroup> GroupOfKeyword(std::string_view keyword) {
  const auto* found = std::find_if(std::begin(kKeywords), std::end(kKeywords),
                                   [&](const Keyword& k) { return k.text == keyword; });
  if (found == std::end(kKeywords)) {
    return std::nullopt;
  }
  return found->group;
}

}  // namespace kiln::layout
