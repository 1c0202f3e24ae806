// SPDX-License-Identifier: MIT
#include "compiler/layout/ir_types.h"

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln::layout {
namespace {

// The layout has kinds of its own, since it also serves programs that never were IR.
ScalarKind ScalarOf(ir::Scalar scalar) {
  switch (scalar) {
    case ir::Scalar::kF32:
      return ScalarKind::kF32;
    case ir::Scalar::kU32:
      return ScalarKind::kU32;
    case ir::Scalar::kS32:
      return ScalarKind::kI32;
    case ir::Scalar::kBool:
      return ScalarKind::kBool;
    case ir::Scalar::kF16:
      return ScalarKind::kF16;
    case ir::Scalar::kF64:
      return ScalarKind::kF64;
    case ir::Scalar::kS64:
      return ScalarKind::kI64;
    case ir::Scalar::kU64:
      return ScalarKind::kU64;
    case ir::Scalar::kS16:
      return ScalarKind::kI16;
    case ir::Scalar::kU16:
      return ScalarKind::kU16;
    case ir::Scalar::kNone:
      break;
  }
  KILN_UNREACHABLE();
}

}  // namespace

// Asked for with every access and struct, so the answer is a table by type and rules; only the
// first question goes through the import.
const TypeLayout& TypeLayouts::Of(ir::TypeId type, Rules rules) {
  const size_t row = size_t{kRulesCount} * type.value + static_cast<size_t>(rules);
  if (row < layouts_.size() && layouts_[row] != nullptr) {
    return *layouts_[row];
  }
  const TypeLayout& layout = bytes_.Of(Import(type), rules);
  // All rule sets of a type lie together.
  if (row >= layouts_.size()) {
    layouts_.resize(row + kRulesCount);
  }
  layouts_[row] = &layout;
  return layout;
}

// Types of the IR become those of the layout once. The row is written last, because converting
// converts the parts and may move the table.
TypeId TypeLayouts::Import(ir::TypeId type) {
  if (type.value < imported_.size() && imported_[type.value].valid()) {
    return imported_[type.value];
  }
  const TypeId converted = Convert(type);
  if (type.value >= imported_.size()) {
    imported_.resize(type.value + size_t{1});
  }
  imported_[type.value] = converted;
  return converted;
}

// What is written at the member goes along: its order of rows and its offset.
Member TypeLayouts::ImportMember(const ir::ShapeMember& member) {
  return {
      .name = pool_.Text(member.name),
      .type = Import(member.type),
      .order = member.order == ir::MatrixOrder::kRow ? MatrixOrder::kRow : MatrixOrder::kDefault,
      .offset = member.offset == ir::kUnwritten ? kAutomatic : member.offset};
}

// A member with a written order of rows is not the layout of its type alone, so it is not in the
// table.
const TypeLayout& TypeLayouts::Of(const ir::ShapeMember& member, Rules rules) {
  return member.order == ir::MatrixOrder::kColumn ? Of(member.type, rules)
                                                  : bytes_.Of(ImportMember(member), rules);
}

// The same for a type whose order its member decides.
const TypeLayout& TypeLayouts::Of(ir::TypeId type, Rules rules, ir::MatrixOrder order) {
  return order == ir::MatrixOrder::kColumn
             ? Of(type, rules)
             : bytes_.Of(Member{.type = Import(type), .order = MatrixOrder::kRow}, rules);
}

// Recursion is as deep as types nest, and each type is converted once.
TypeId TypeLayouts::Convert(ir::TypeId id) {
  // A copy, because importing parts may move the pool's table.
  const ir::Type type = pool_[id];
  switch (type.kind) {
    case ir::TypeKind::kVector:
      return types_.Vector(ScalarOf(type.scalar), type.rows);
    case ir::TypeKind::kMatrix:
      return types_.Matrix(ScalarOf(type.scalar), type.rows, type.columns);
    case ir::TypeKind::kArray:
      return types_.Array(Import(ir::TypeId{type.element}), type.extent);
    case ir::TypeKind::kRuntimeArray:
      return types_.RuntimeArray(Import(ir::TypeId{type.element}));
    case ir::TypeKind::kStruct: {
      std::vector<Member> members;
      for (const ir::ShapeMember& member : pool_.Members(id)) {
        CheckStop();
        members.push_back(ImportMember(member));
      }
      return types_.Struct(pool_.Text(pool_.ShapeOf(id).name), members);
    }
    // Resources are told apart by their class alone; the name is for messages.
    case ir::TypeKind::kSampler:
      return types_.Resource(ResourceClass::kSampler, "sampler");
    case ir::TypeKind::kImage: {
      const bool storage = ir::UnpackImage(type.extent).storage;
      return types_.Resource(storage ? ResourceClass::kWrite : ResourceClass::kRead,
                             types_.Keep(ir::TypeText(pool_, id)));
    }
    case ir::TypeKind::kSampledImage:
      return types_.Resource(ResourceClass::kCombined, types_.Keep(ir::TypeText(pool_, id)));
    case ir::TypeKind::kAccel:
      return types_.Resource(ResourceClass::kRead, "accel");
    case ir::TypeKind::kVoid:
    case ir::TypeKind::kNamed:
    case ir::TypeKind::kDeferred:
    case ir::TypeKind::kDeclared:
    case ir::TypeKind::kRayQuery:
      break;
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::layout
