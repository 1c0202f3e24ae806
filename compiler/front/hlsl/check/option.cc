// SPDX-License-Identifier: MIT
// Options are ordinary `static const` variables with an attribute (spec/hlsl 8.1), so a
// compiler that does not know kiln builds the default variant of the same text. What is checked
// here is that the default is known and the type is one that options have.
#include "compiler/front/hlsl/check/option.h"

#include <optional>

#include "compiler/front/hlsl/check/attribute.h"
#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/name.h"

namespace kiln::hlsl {
namespace {

// spec/hlsl 8.1: which types options may have. Nothing for any other (HLSL6002).
std::optional<ir::OptionKind> KindOf(const Types& types, TypeId id) {
  const Type& type = types[id];
  if (type.kind == TypeKind::kEnum) {
    return ir::OptionKind::kEnum;
  }
  if (type.kind != TypeKind::kNumeric || type.form != Form::kScalar) {
    return std::nullopt;
  }
  switch (type.item) {
    case Item::kBool:
      return ir::OptionKind::kFlag;
    case Item::kUint:
      return ir::OptionKind::kUint;
    case Item::kInt:
      return ir::OptionKind::kSint;
    case Item::kFloat:
      return ir::OptionKind::kFloat;
    default:
      return std::nullopt;
  }
}

// The number of the enumerator with that value; nothing if there is none.
// The default of an enum option is kept by number of enumerator, as the IR has its options'
// texts in order.
std::optional<uint32_t> EnumeratorWith(const Types& types, TypeId id, uint64_t value) {
  const EnumId owner{types[id].element};
  for (uint32_t i = 0; i < types[owner].count; ++i) {
    if (types.EnumeratorOf(owner, i).value == value) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace

// Errors leave the name undeclared, but for one whose value failed, which is silent.
void CheckOption(CheckContext& context, const syntax::Attribute& attribute,
                 const syntax::Variable& variable, TypeId type, ExprId value) {
  const auto scope = WordArgument(context, attribute, 0);
  if (scope != "global" && scope != "instance") {
    return SayNeeds(context, attribute, "global or instance");
  }
  if (const auto more = WordArgument(context, attribute, 1); more == "specialize") {
    return context.Refuse({attribute.begin, attribute.end}, "specialize",
                          "specialisation constants");
  }
  const std::optional<ir::OptionKind> kind = KindOf(context.types(), type);
  if (context.types().IsFailed(type)) {
    return;
  }
  if (!kind) {
    context.Say(context.At(Code::kHlsl6002, variable.name)
                    .With("name", context.Text(variable.name))
                    .With("type", context.types().Text(type)));
    return;
  }
  // HLSL6003: the default must be known without options.
  const std::optional<Scalar> known = value.valid() ? ScalarOf(context, value) : std::nullopt;
  const std::optional<uint32_t> number = !known ? std::nullopt
                                         : *kind == ir::OptionKind::kEnum
                                             ? EnumeratorWith(context.types(), type, known->bits)
                                             : std::optional(static_cast<uint32_t>(known->bits));
  if (!number) {
    if (!value.valid() || context.Get(value).kind != ExprKind::kFailed) {
      context.Say(
          context.At(Code::kHlsl6003, variable.name).With("name", context.Text(variable.name)));
    }
    return;
  }
  const auto row = static_cast<uint32_t>(context.unit.options.size());
  const bool is_new =
      Declare(context, variable.name, {.kind = SymbolKind::kOption, .id = row, .type = type});
  if (!is_new) {
    return;
  }
  context.unit.options.push_back(
      {.name = context.Dotted(variable.name),
       .at = {variable.name, variable.name + 1},
       .row = {.scope = scope == "global" ? ir::OptionScope::kGlobal : ir::OptionScope::kInstance,
               .kind = *kind,
               .default_value = *number},
       .type = type});
}

}  // namespace kiln::hlsl
