// SPDX-License-Identifier: MIT
// The checked module has everything resolved, so lowering makes no decision that could fail and
// says nothing. The order of declarations in the IR is fixed by who mentions whom: structs,
// variables, functions, entry points, settings.
#include "compiler/front/wgsl/lower/module.h"

#include <vector>

#include "compiler/front/wgsl/lower/cexpr.h"
#include "compiler/front/wgsl/lower/context.h"
#include "compiler/front/wgsl/lower/function.h"
#include "compiler/front/wgsl/lower/global.h"
#include "compiler/front/wgsl/lower/type.h"

namespace kiln::wgsl::front {
namespace {

void AddEntry(LowerContext& context, uint32_t id) {
  const FunctionRow& function = context.unit.functions[id];
  context.builder.Add({.kind = ir::DeclKind::kEntry,
                       .flags = static_cast<uint16_t>(function.stage),
                       .name = context.builder.Text(function.name),
                       .body = context.functions[id].value},
                      {.name = context.SpanOf(function.at)});
}

// Sizes are counts, whatever the source calls them.
// Settings of sizes are counts; a negative one of a variant is an error there.
ir::CexprId ArrayCountOf(LowerContext& context, ExprId id) {
  const Expr& expr = context.Get(id);
  if (expr.kind == ExprKind::kConstant) {
    return context.builder.Literal(ir::ValueKind::kUint,
                                   static_cast<uint32_t>(context.unit.WordsOf(expr)[0]));
  }
  return context.TypeRowOf(id).scalar == ScalarKind::kU32 ? CexprOf(context, id)
                                                          : CountOfSigned(context, id);
}

// Sizes that are not written are 1.
void AddWorkgroupSize(LowerContext& context, uint32_t id) {
  static constexpr std::string_view kSizes[] = {"workgroup_size_x", "workgroup_size_y",
                                                "workgroup_size_z"};
  const FunctionRow& function = context.unit.functions[id];
  for (size_t i = 0; i < 3; ++i) {
    const ExprId size = function.workgroup[i];
    if (!size.valid()) {
      continue;
    }
    const TokenRange at = context.Get(size).at;
    const ir::CexprId value = ArrayCountOf(context, size);
    const uint32_t* nodes = context.cexpr_nodes.Find(value.value);
    const ir::SpanId run = context.builder.AddRun(
        std::vector<Span>(nodes == nullptr ? 1 : *nodes, context.stream.SpanOf(at)));
    context.builder.Add({.kind = ir::DeclKind::kSetting,
                         .name = context.builder.Text(kSizes[i]),
                         .body = value.value,
                         .aux = context.functions[id].value},
                        {.name = context.SpanOf(at), .value = run});
  }
}

}  // namespace

// Structs, then variables, then functions: each mentions only what is before. Entry points and
// sizes come last, as they name functions.
ir::Module Lower(const Unit& unit, const TokenStream& stream, const Hash128& fingerprint) {
  LowerContext context(unit, stream);
  context.builder.Reserve(unit.exprs.size());
  DeclareStructs(context);
  DeclareGlobals(context);
  LowerFunctions(context);
  for (uint32_t i = 0; i < unit.functions.size(); ++i) {
    if (unit.functions[i].stage != kNoRow) {
      AddEntry(context, i);
    }
  }
  for (uint32_t i = 0; i < unit.functions.size(); ++i) {
    AddWorkgroupSize(context, i);
  }
  context.builder.SetSource(stream.text);
  return context.builder.Finish(fingerprint);
}

}  // namespace kiln::wgsl::front
