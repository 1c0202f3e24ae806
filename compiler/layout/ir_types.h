// SPDX-License-Identifier: MIT
// Specialised IR types as types of the layout engine, and their byte layouts: what emitters and
// metadata ask for offsets and strides. See spec/layout 4; spec/rpl 10.3.
#pragma once

#include <vector>

#include "compiler/ir/types.h"
#include "compiler/layout/bytes.h"
#include "compiler/layout/rules.h"
#include "compiler/layout/types.h"

namespace kiln::layout {

// Layouts of the types of one pool. One thread; references stay valid as long as the object.
class TypeLayouts {
 public:
  // `pool` must outlive the object.
  explicit TypeLayouts(const ir::Pool& pool) : pool_(pool), bytes_(types_) {}
  TypeLayouts(const TypeLayouts&) = delete;
  TypeLayouts& operator=(const TypeLayouts&) = delete;

  // Requires: a vector, matrix, array, runtime array or struct of those. O(1) when asked again.
  const TypeLayout& Of(ir::TypeId type, Rules rules);

  // Of what a member holds, whose matrices have the order that is written.
  const TypeLayout& Of(const ir::ShapeMember& member, Rules rules);

  // Of a part of such a member.
  const TypeLayout& Of(ir::TypeId type, Rules rules, ir::MatrixOrder order);

  // The type in the engine's table. Requires: a specialised type, not void.
  TypeId Import(ir::TypeId type);

  const ir::Pool& pool() const { return pool_; }
  Types& types() { return types_; }
  ByteLayouts& bytes() { return bytes_; }

 private:
  TypeId Convert(ir::TypeId id);
  Member ImportMember(const ir::ShapeMember& member);

  const ir::Pool& pool_;
  Types types_{Spelling::kRpl};
  ByteLayouts bytes_;
  std::vector<TypeId> imported_;            // by ir::TypeId
  std::vector<const TypeLayout*> layouts_;  // by kRulesCount * ir::TypeId + Rules
};

}  // namespace kiln::layout
