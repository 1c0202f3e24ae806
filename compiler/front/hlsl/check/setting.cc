// SPDX-License-Identifier: MIT
// Attributes of entry points are read when the function is declared, and are values of
// compile-time expressions over options; which names exist and which values they take is
// checked for a variant, like RPL's settings.
#include "compiler/front/hlsl/check/setting.h"

#include <optional>
#include <utility>

#include "compiler/front/hlsl/check/attribute.h"
#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/expression.h"
#include "compiler/ir/specialised.h"

namespace kiln::hlsl {
namespace {

using syntax::AttributeName;

constexpr uint32_t kMostBlocks = 65'534;  // what the IR can number

// spec/hlsl 13.3: a candidate for an entry point of that stage; `pixel` is SPIR-V's fragment.
void ReadStage(CheckContext& context, const syntax::Attribute& attribute, FunctionId id) {
  static constexpr std::pair<std::string_view, ir::Stage> kStages[] = {
      {"vertex", ir::Stage::kVertex},
      {"pixel", ir::Stage::kFragment},
      {"fragment", ir::Stage::kFragment},
      {"compute", ir::Stage::kCompute}};
  const auto word = WordArgument(context, attribute, 0);
  if (!word) {
    return SayNeeds(context, attribute, "the name of a stage");
  }
  for (const auto& [name, stage] : kStages) {
    if (*word == name) {
      context.unit[id].stage = static_cast<uint32_t>(stage);
      context.unit.entries.push_back(id);
      return;
    }
  }
  context.Refuse({attribute.begin, attribute.end}, *word, "further stages");
}

// HLSL2028 for what is known only when it runs.
bool IsKnown(CheckContext& context, ExprId id) {
  const Expr expr = context.Get(id);
  if (expr.kind != ExprKind::kFailed && expr.rate > Rate::kOption) {
    context.Say(context.At(Code::kHlsl2028, expr.at).With("text", context.Text(expr.at)));
    return false;
  }
  return expr.kind != ExprKind::kFailed;
}

// spec/hlsl 17.7. Sizes may depend on options; the target's limits are those of a variant.
void ReadThreads(CheckContext& context, const syntax::Attribute& attribute, FunctionId id) {
  if (ArgumentCount(context, attribute) != 3) {
    return SayNeeds(context, attribute, "three sizes");
  }
  std::vector<ExprId> threads;
  for (size_t i = 0; i < 3; ++i) {
    const ExprId value = CheckExpr(context, ArgumentAt(context, attribute, i));
    const ExprId size = ConvertTo(context, value, context.types().Scalar(Item::kUint),
                                  ConversionUse::kImplicit, context.Get(value).at);
    if (!IsKnown(context, size)) {
      return;
    }
    threads.push_back(size);
  }
  context.unit[id].threads = std::move(threads);
}

// A value of a setting: a number or flag, a word, or `condition ? "word" : "word"`.
// spec/hlsl 8.6.
bool ReadValue(CheckContext& context, const syntax::Attribute& attribute, size_t i,
               Setting& setting) {
  const syntax::ExprRange range = ArgumentAt(context, attribute, i);
  const syntax::Expr& root = context.ast.exprs[range.root];
  if (root.kind == syntax::ExprKind::kString) {
    setting.text = context.ast.StringOf(root);
    return true;
  }
  // Strings have no type here, so `?:` of two of them is read as a whole, by its syntax.
  if (root.kind == syntax::ExprKind::kSelect) {
    const std::span<const uint32_t> sides = context.ast.List(root.b);
    const syntax::Expr& then = context.ast.exprs[sides[0]];
    const syntax::Expr& otherwise = context.ast.exprs[sides[1]];
    if (then.kind == syntax::ExprKind::kString && otherwise.kind == syntax::ExprKind::kString) {
      const ExprId asked = CheckExpr(context, {range.first, root.a});
      setting.condition = Condition(context, asked, "'?:'");
      setting.text = context.ast.StringOf(then);
      setting.other = context.ast.StringOf(otherwise);
      return IsKnown(context, setting.condition);
    }
  }
  setting.value = Natural(context, CheckExpr(context, range));
  return IsKnown(context, setting.value);
}

// (name, value), or (name, block, value).
void ReadSetting(CheckContext& context, const syntax::Attribute& attribute, FunctionId id) {
  const size_t count = ArgumentCount(context, attribute);
  const auto name = WordArgument(context, attribute, 0);
  if (!name || count < 2 || count > 3) {
    return SayNeeds(context, attribute, "a name and a value");
  }
  Setting setting{.name = *name, .at = {attribute.begin, attribute.end}};
  if (count == 3) {
    const auto block = NumberArgument(context, attribute, 1);
    if (!block) {
      return;
    }
    if (*block > kMostBlocks) {
      return SayNeeds(context, attribute, "the number of a colour output");
    }
    setting.block = *block;
  }
  if (ReadValue(context, attribute, count - 1, setting)) {
    context.unit[id].settings.push_back(setting);
  }
}

}  // namespace

// Attributes that entry points alone ask for; others were read with the declaration.
void ReadEntryAttributes(CheckContext& context, const syntax::Decl& decl, FunctionId id) {
  for (uint32_t i = 0; i < decl.attributes.count; ++i) {
    const syntax::Attribute& attribute = context.ast.attributes[decl.attributes.first + i];
    if (attribute.name == AttributeName::kShader) {
      ReadStage(context, attribute, id);
    } else if (attribute.name == AttributeName::kNumThreads) {
      ReadThreads(context, attribute, id);
    } else if (attribute.name == AttributeName::kKilnSetting) {
      ReadSetting(context, attribute, id);
    } else if (attribute.name == AttributeName::kEarlyDepthStencil) {
      context.Refuse({attribute.begin, attribute.end}, context.Text(attribute.token),
                     "early fragment tests");
    }
  }
}

}  // namespace kiln::hlsl
