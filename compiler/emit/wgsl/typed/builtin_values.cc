// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/typed/builtin_values.h"

#include <algorithm>
#include <iterator>

#include "compiler/emit/wgsl/literals.h"

namespace kiln::wgsl {
namespace {

constexpr BuiltinValue kValues[] = {
#define KILN_BUILTIN_VALUE(name, wgsl, scalar, rows, feature) \
  {name, wgsl, ir::Scalar::k##scalar, rows, feature},
#include "compiler/emit/wgsl/typed/builtin_values.def"
};

}  // namespace

const BuiltinValue* BuiltinValueOf(const ir::Pool& pool, const ir::InterfaceRow& row) {
  const ir::Attribute* builtin = row.Find(ir::AttributeKey::kBuiltin);
  if (builtin == nullptr) {
    return nullptr;
  }
  const std::string_view name = pool.Text(ir::StringId{builtin->a});
  const auto* found = std::ranges::find(kValues, name, &BuiltinValue::name);
  return found == std::end(kValues) ? nullptr : found;
}

ir::TypeId ValueTypeOf(const ir::Pool& pool, const ir::InterfaceRow& row) {
  const ir::Type type = pool[row.type];
  return type.kind == ir::TypeKind::kArray ? ir::TypeId{type.element} : row.type;
}

std::string ConstantLabel(const ir::Pool& pool, ir::ConstId label) {
  const ir::Const& constant = pool[label];
  return Literal(pool[constant.type].scalar, constant.a);
}

}  // namespace kiln::wgsl
