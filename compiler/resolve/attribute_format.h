// SPDX-License-Identifier: MIT
// How a field of an attribute container is packed in memory. See spec/rpl 10.2.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/decls.h"
#include "compiler/ir/types.h"

namespace kiln::resolve {

struct AttributeFormat {
  ir::PackClass pack = ir::PackClass::kFloat;
  uint8_t bits = 32;
};

// What was written, or the default for items of `scalar`.
AttributeFormat FormatOf(ir::PackClass pack, uint8_t bits, ir::Scalar scalar);
inline AttributeFormat FormatOf(const ir::Member& field, ir::Scalar scalar) {
  return FormatOf(field.pack, field.pack_bits, scalar);
}

// Diagnostics: RPL4041, RPL4042, RPL4044. Requires: `type` is a vector or matrix.
void CheckFormat(const AttributeFormat& format, const ir::Pool& pool, ir::TypeId type,
                 std::string_view name, const Location& where,
                 std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
