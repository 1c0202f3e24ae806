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

// How an option is declared: scope, and whether it is a constant of pipelines.
struct OptionForm {
  ir::OptionScope scope = ir::OptionScope::kInstance;
  bool specialize = false;
  uint32_t id_plus_one = 0;
};

// Errors leave the name undeclared, but for one whose value failed, which is silent.
void DeclareOption(CheckContext& context, const OptionForm& form, const syntax::Variable& variable,
                   TypeId type, ExprId value) {
  const std::optional<ir::OptionKind> kind = KindOf(context.types(), type);
  if (context.types().IsFailed(type)) {
    return;
  }
  // Vulkan has no constants of texts, so an enum cannot be one of pipelines.
  if (!kind || (form.specialize && *kind == ir::OptionKind::kEnum)) {
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
       .row = {.scope = form.scope,
               .kind = *kind,
               .specialize = static_cast<uint16_t>(form.specialize ? 1 : 0),
               .default_value = *number,
               .id_plus_one = form.id_plus_one},
       .type = type});
}

}  // namespace

void CheckOption(CheckContext& context, const syntax::Attribute& attribute,
                 const syntax::Variable& variable, TypeId type, ExprId value) {
  const auto scope = WordArgument(context, attribute, 0);
  if (scope != "global" && scope != "instance") {
    return SayNeeds(context, attribute, "global or instance");
  }
  const bool specialize = WordArgument(context, attribute, 1) == "specialize";
  // What the code leaves open cannot decide an interface, so such an option is of an instance.
  if (specialize && scope != "instance") {
    return SayNeeds(context, attribute, "instance");
  }
  DeclareOption(context,
                {.scope = scope == "global" ? ir::OptionScope::kGlobal : ir::OptionScope::kInstance,
                 .specialize = specialize},
                variable, type, value);
}

void CheckConstantId(CheckContext& context, uint32_t id, const syntax::Variable& variable,
                     TypeId type, ExprId value) {
  DeclareOption(context, {.specialize = true, .id_plus_one = id + 1}, variable, type, value);
}

}  // namespace kiln::hlsl
