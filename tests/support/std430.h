// SPDX-License-Identifier: MIT
// Bytes of storage buffers as values and back, by the rules of spec/rpl 10.3 written once more: so
// offsets and strides are compared, too.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "tests/support/interpreter.h"

namespace kiln::oracle {

// Calls `visit` for each scalar of a value of that type, in the order of its cells. A runtime array
// has as many items as fit into `bytes`.
void VisitStd430(const ir::Pool& pool, ir::TypeId type, size_t bytes,
                 const std::function<void(size_t offset, ir::Scalar scalar)>& visit);

Value ReadStd430(const ir::Pool& pool, ir::TypeId type, std::span<const std::byte> bytes);

// The bits of a scalar in memory as a cell has them.
uint32_t BitsAt(std::span<const std::byte> bytes, size_t offset, ir::Scalar scalar);

}  // namespace kiln::oracle
