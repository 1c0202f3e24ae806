// SPDX-License-Identifier: MIT
#include "compiler/layout/order.h"

#include "compiler/base/check.h"

namespace kiln::layout {
namespace {

enum Group : uint32_t {
  kContainers,
  kUniformBuffers,
  kReadOnlyBuffers,
  kPushConstants,
  kSamplers,
  kImages,  // eight groups: colour 2d, 3d, cube, 2d array, then depth
  kReadWriteBuffers = kImages + 8,
  kStorageImages,
};

uint32_t GroupOfBuffer(ir::BufferKind kind) {
  switch (kind) {
    case ir::BufferKind::kUniform:
      return kUniformBuffers;
    case ir::BufferKind::kReadOnlyStorage:
      return kReadOnlyBuffers;
    case ir::BufferKind::kReadWriteStorage:
      return kReadWriteBuffers;
  }
  KILN_UNREACHABLE();
}

uint32_t GroupOfImage(const ir::Pool& pool, ir::TypeId type) {
  while (pool[type].kind == ir::TypeKind::kArray) {
    type = ir::TypeId{pool[type].element};
  }
  const ir::ImageTraits traits = ir::UnpackImage(pool[type].extent);
  if (traits.storage) {
    return kStorageImages;
  }
  const uint32_t shape = traits.arrayed ? 3 : static_cast<uint32_t>(traits.dim);
  return kImages + (traits.depth ? 4 : 0) + shape;
}

}  // namespace

uint32_t GroupOf(const ir::Pool& pool, const ir::ClosedDecl& decl) {
  switch (decl.kind) {
    case ir::DeclKind::kContainer:
      return kContainers;
    case ir::DeclKind::kBuffer:
      return GroupOfBuffer(decl.buffer());
    case ir::DeclKind::kPushConstant:
      return kPushConstants;
    case ir::DeclKind::kSampler:
      return kSamplers;
    case ir::DeclKind::kImage:
      return GroupOfImage(pool, decl.type);
    case ir::DeclKind::kConstant:
    case ir::DeclKind::kSetting:
    case ir::DeclKind::kStruct:
    case ir::DeclKind::kFunction:
    case ir::DeclKind::kWorkgroup:
      break;
  }
  KILN_CHECK(false, "a declaration of kind {} has no place in an interface", decl.kind);
  KILN_UNREACHABLE();
}

}  // namespace kiln::layout
