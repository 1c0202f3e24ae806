// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/lower/constant_text.h"

#include <string_view>

#include "compiler/base/threads/stop.h"
#include "compiler/emit/wgsl/literals.h"
#include "compiler/emit/wgsl/lower/rows.h"

namespace kiln::wgsl {

std::string ConstantText(ir::ConstId constant, Types& types) {
  const ir::Pool& pool = types.pool();
  const ir::Const c = pool[constant];
  if (c.composite == 0) {
    const ir::Scalar scalar = pool[c.type].scalar;
    return HasLiteral(scalar, c.a) ? Literal(scalar, c.a)
                                   : SpecialText({.scalar = scalar, .bits = c.a});
  }
  std::string text = types.Text(c.type) + "(";
  std::string_view separator;
  for (const ir::ConstId part : pool.Parts(constant)) {
    CheckStop();
    text += separator;
    text += ConstantText(part, types);
    separator = ", ";
  }
  return text + ")";
}

}  // namespace kiln::wgsl
