// SPDX-License-Identifier: MIT
#include "tests/support/std430.h"

#include <algorithm>
#include <bit>

#include "compiler/base/bytes.h"
#include "compiler/ir/typing/typing.h"
#include "tests/support/interpreter_cells.h"

namespace kiln::oracle {
namespace {

size_t RoundUp(size_t number, size_t step) { return (number + step - 1) / step * step; }

struct Extent {
  size_t size = 0;
  size_t alignment = 1;
};

Extent ExtentOf(const ir::Pool& pool, ir::TypeId id) {
  const ir::Type& type = pool[id];
  if (type.kind == ir::TypeKind::kStruct) {
    Extent whole;
    for (const ir::ShapeMember& member : pool.Members(id)) {
      const Extent part = ExtentOf(pool, member.type);
      whole.size = RoundUp(whole.size, part.alignment) + part.size;
      whole.alignment = std::max(whole.alignment, part.alignment);
    }
    return {RoundUp(whole.size, whole.alignment), whole.alignment};
  }
  if (type.kind == ir::TypeKind::kArray || type.kind == ir::TypeKind::kRuntimeArray) {
    const Extent item = ExtentOf(pool, ir::TypeId{type.element});
    const size_t count = type.kind == ir::TypeKind::kArray ? type.extent : 0;
    return {count * RoundUp(item.size, item.alignment), item.alignment};
  }
  const size_t scalar = type.scalar == ir::Scalar::kF16 ? 2 : 4;
  const size_t alignment = scalar * std::bit_ceil(size_t{type.rows});
  return type.kind == ir::TypeKind::kMatrix ? Extent{type.columns * alignment, alignment}
                                            : Extent{type.rows * scalar, alignment};
}

struct Walk {
  const ir::Pool& pool;
  size_t bytes;
  const std::function<void(size_t, ir::Scalar)>& visit;

  void Visit(ir::TypeId id, size_t offset) const {
    const ir::Type& type = pool[id];
    if (type.kind == ir::TypeKind::kRuntimeArray) {
      const Extent item = ExtentOf(pool, ir::TypeId{type.element});
      const size_t stride = RoundUp(item.size, item.alignment);
      for (; offset + stride <= bytes; offset += stride) {
        Visit(ir::TypeId{type.element}, offset);
      }
      return;
    }
    if (type.kind == ir::TypeKind::kVector) {
      const size_t scalar = type.scalar == ir::Scalar::kF16 ? 2 : 4;
      for (size_t i = 0; i < type.rows; ++i) {
        visit(offset + i * scalar, type.scalar);
      }
      return;
    }
    for (uint32_t i = 0; i < ir::PartCount(pool, id); ++i) {
      const ir::TypeId part = *ir::PartType(pool, id, i);
      const Extent extent = ExtentOf(pool, part);
      offset = RoundUp(offset, extent.alignment);
      Visit(part, offset);
      offset += extent.size;
    }
  }
};

}  // namespace

void VisitStd430(const ir::Pool& pool, ir::TypeId type, size_t bytes,
                 const std::function<void(size_t offset, ir::Scalar scalar)>& visit) {
  Walk{pool, bytes, visit}.Visit(type, 0);
}

uint32_t BitsAt(std::span<const std::byte> bytes, size_t offset, ir::Scalar scalar) {
  return scalar == ir::Scalar::kF16
             ? std::bit_cast<uint32_t>(FloatOfHalf(ReadLittle<uint16_t>(bytes, offset)))
             : ReadLittle<uint32_t>(bytes, offset);
}

Value ReadStd430(const ir::Pool& pool, ir::TypeId type, std::span<const std::byte> bytes) {
  Value value;
  VisitStd430(pool, type, bytes.size(), [&](size_t offset, ir::Scalar scalar) {
    value.push_back({.bits = BitsAt(bytes, offset, scalar), .error = 0});
  });
  return value;
}

}  // namespace kiln::oracle
