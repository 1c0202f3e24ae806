// SPDX-License-Identifier: MIT
// Lowering cannot fail: what is wrong was said by the checker. What only a variant can tell
// becomes a fault in the code that it is about. Declarations are added in the order in which
// they mention each other, and functions last, callees first.
#include "compiler/front/hlsl/lower/module.h"

#include <bit>
#include <string>
#include <vector>

#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/lower/cexpr.h"
#include "compiler/front/hlsl/lower/context.h"
#include "compiler/front/hlsl/lower/function.h"
#include "compiler/front/hlsl/lower/global.h"
#include "compiler/front/hlsl/lower/type.h"

namespace kiln::hlsl {
namespace {

// Options first: everything else may mention them by name.
void AddOptions(LowerContext& context) {
  for (const Option& option : context.unit.options) {
    ir::Option row = option.row;
    row.name = context.builder.Text(option.name);
    row.span = context.SpanOf(option.at);
    if (row.kind == ir::OptionKind::kEnum) {
      const EnumId owner{context.TypeRow(option.type).element};
      std::vector<ir::StringId> values;
      for (uint32_t i = 0; i < context.unit.types[owner].count; ++i) {
        values.push_back(context.builder.Text(context.unit.types.EnumeratorOf(owner, i).name));
      }
      row.values = context.builder.Ids(values);
    }
    context.builder.Add(row);
  }
}

// The structs that `frexp` and `modf` give, one for each shape that is asked for.
// Declared before functions, as a declaration cannot stand inside of one.
void DeclareTwoParts(LowerContext& context) {
  for (const Expr& expr : context.unit.exprs) {
    const bool frexp =
        expr.kind == ExprKind::kIntrinsic && static_cast<Intrinsic>(expr.op) == Intrinsic::kFrexp;
    const bool modf =
        expr.kind == ExprKind::kIntrinsic && static_cast<Intrinsic>(expr.op) == Intrinsic::kModf;
    if (!frexp && !modf) {
      continue;
    }
    const Type& type = context.TypeRow(expr.type);
    const ir::Scalar first = ScalarOf(type);
    const ir::Scalar second = frexp ? ir::Scalar::kS32 : first;
    const uint32_t count = ValueForm(type) == Form::kMatrix ? type.columns : CountOf(type);
    const uint32_t key = LowerContext::KeyOfParts(first, second, count);
    if (context.two_parts.Contains(key)) {
      continue;
    }
    const ir::Member members[] = {
        {.name = context.builder.Text("first"), .type = context.Vector(first, count)},
        {.name = context.builder.Text("second"), .type = context.Vector(second, count)}};
    const ir::MemberSpans spans[2] = {};
    const std::string name =
        std::string(frexp ? "frexp_" : "modf_") + ir::ScalarLetter(first) + std::to_string(count);
    context.two_parts.Insert(
        key,
        context.builder.Add({.kind = ir::DeclKind::kStruct, .name = context.builder.Text(name)},
                            {.name = context.SpanOf(expr.at)}, members, spans));
    context.member_count += 2;
  }
}

// A function without a body is no entry point.
void AddEntries(LowerContext& context) {
  for (const FunctionId id : context.unit.entries) {
    const Function& function = context.unit[id];
    if (!context.functions[id.value].valid()) {
      continue;
    }
    context.builder.Add({.kind = ir::DeclKind::kEntry,
                         .flags = static_cast<uint16_t>(function.stage),
                         .name = context.builder.Text(function.name),
                         .body = context.functions[id.value].value},
                        {.name = context.SpanOf(function.at)});
  }
}

// A word of a setting, as a compile-time expression.
ir::CexprId WordOf(LowerContext& context, std::string_view word) {
  const ir::CexprId made =
      context.builder.Intern({.op = ir::CexprOp::kLiteral,
                              .kind = static_cast<uint16_t>(ir::ValueKind::kString),
                              .a = context.builder.Text(word).value});
  context.cexpr_nodes[made.value] = 1;
  return made;
}

// A setting of a colour output has the number of the output.
struct SettingName {
  std::string_view name;
  uint32_t block = ir::kNoBlock;
};
// 0 is no block, so numbers begin at 1.
void AddSetting(LowerContext& context, FunctionId owner, const SettingName& name, ir::CexprId value,
                TokenRange at) {
  const ir::SpanId run = context.builder.AddRun(
      std::vector<Span>(context.cexpr_nodes[value.value], context.WrittenAt(at)));
  context.builder.Add(
      {.kind = ir::DeclKind::kSetting,
       .flags = static_cast<uint16_t>(name.block == ir::kNoBlock ? 0 : name.block + 1),
       .name = context.builder.Text(name.name),
       .body = value.value,
       .aux = context.functions[owner.value].value},
      {.name = context.SpanOf(at), .value = run});
}

// spec/hlsl 8.6 and 17.7: sizes of workgroups are settings of the entry point as well.
void AddSettings(LowerContext& context) {
  static constexpr std::string_view kSizes[] = {"workgroup_size_x", "workgroup_size_y",
                                                "workgroup_size_z"};
  for (uint32_t i = 0; i < context.unit.functions.size(); ++i) {
    const Function& function = context.unit.functions[i];
    if (!context.functions[i].valid()) {
      continue;
    }
    for (size_t k = 0; k < function.threads.size(); ++k) {
      AddSetting(context, FunctionId{i}, {kSizes[k]},
                 CexprOf(context, function.threads[k], nullptr),
                 context.Get(function.threads[k]).at);
    }
    for (const Setting& setting : function.settings) {
      ir::CexprId value;
      if (setting.value.valid()) {
        value = CexprOf(context, setting.value, nullptr);
      } else if (setting.condition.valid()) {
        value = Chosen(context, CexprOf(context, setting.condition, nullptr),
                       WordOf(context, setting.text), WordOf(context, setting.other));
      } else {
        value = WordOf(context, setting.text);
      }
      AddSetting(context, FunctionId{i}, {setting.name, setting.block}, value, setting.at);
    }
  }
}

}  // namespace

// In the order in which things mention each other. The text of all files goes into the module,
// for messages of variants.
ir::Module Lower(const Unit& unit, const TokenStream& stream, const Settings& settings,
                 const ModuleSources& sources, const Hash128& fingerprint) {
  LowerContext context(unit, stream, settings);
  context.builder.Reserve(unit.exprs.size());
  AddOptions(context);
  DeclareStructs(context);
  DeclareTwoParts(context);
  DeclareGlobals(context);
  LowerFunctions(context);
  AddEntries(context);
  AddSettings(context);
  context.builder.SetSources(sources.files, sources.texts);
  return context.builder.Finish(fingerprint);
}

}  // namespace kiln::hlsl
