// SPDX-License-Identifier: MIT
#include "compiler/resolve/interface_groups.h"

#include "compiler/base/check.h"

namespace kiln::resolve {

// The numbers are an order and nothing else. Gaps leave room for the shapes of images, which are
// added to the first number of their group.
int GroupOf(const ir::ModuleView& module, const ir::Decl& decl) {
  switch (decl.kind) {
    case ir::DeclKind::kContainer:
      return 0;
    case ir::DeclKind::kBuffer:
      switch (decl.buffer()) {
        case ir::BufferKind::kUniform:
          return 1;
        case ir::BufferKind::kReadOnlyStorage:
          return 2;
        case ir::BufferKind::kReadWriteStorage:
          return 20;
      }
      KILN_UNREACHABLE();
    case ir::DeclKind::kPushConstant:
      return 3;
    case ir::DeclKind::kSampler:
      return 4;
    case ir::DeclKind::kImage: {
      ir::Type type = module.types[decl.type.value];
      while (type.kind == ir::TypeKind::kArray) {
        type = module.types[type.element];
      }
      const ir::ImageTraits traits = ir::UnpackImage(type.extent);
      // Arrays come behind the three shapes of single images.
      const int shape = traits.arrayed ? 3 : static_cast<int>(traits.dim);
      return (traits.storage ? 21 : traits.depth ? 9 : 5) + shape;
    }
    case ir::DeclKind::kConstant:
    case ir::DeclKind::kSetting:
    case ir::DeclKind::kStruct:
    case ir::DeclKind::kFunction:
    case ir::DeclKind::kWorkgroup:
    case ir::DeclKind::kPrivate:
    case ir::DeclKind::kEntry:
      // What is no part of the interface has no group.
      return -1;
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::resolve
