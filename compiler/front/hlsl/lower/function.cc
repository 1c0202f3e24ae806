// SPDX-License-Identifier: MIT
// The IR names what stands above, so functions come in the order in which a walk over calls leaves
// them. The walk has a stack of its own: chains of calls are as long as a source makes them. A call
// of a function that is not left yet is a cycle, which the call says when it is reached.
#include "compiler/front/hlsl/lower/function.h"

#include <utility>
#include <vector>

#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/lower/cexpr.h"
#include "compiler/front/hlsl/lower/handle.h"
#include "compiler/front/hlsl/lower/statement.h"
#include "compiler/front/hlsl/lower/type.h"

namespace kiln::hlsl {
namespace {

ir::Access AccessOf(Passing passing) {
  return passing == Passing::kIn    ? ir::Access::kIn
         : passing == Passing::kOut ? ir::Access::kOut
                                    : ir::Access::kInOut;
}

// A parameter that comes back is storage, one that does not is a value. Of a resource it is a
// place, unless it is picked when it runs.
void AddParameters(LowerContext& context, const Function& function) {
  for (const LocalId id : function.parameters) {
    const Local& local = context.unit[id];
    ir::LocalSpans spans{.name = context.SpanOf(local.at), .type = context.SpanOf(local.at)};
    const bool object = ObjectOf(context, local.type) != nullptr;
    ir::Local row{.name = context.builder.Text(local.name.empty() ? "unnamed" : local.name),
                  .type = object ? HandleTypeOf(context, local.type, WordsOf(local))
                                 : TypeOf(context, local.type),
                  .access = object && !local.picked ? ir::Access::kPlace : AccessOf(local.passing)};
    if (local.condition.valid()) {
      row.condition = CexprOf(context, local.condition, &spans.condition);
    }
    const ir::LocalId made = context.builder.AddParameter(row, spans);
    // Members and parameters are numbered together over the module, in the order in which they
    // are declared.
    AddAttributes(context, local.attributes, true, context.member_count++);
    context.parameters[id.value] = made;
    if (local.passing != Passing::kIn || object) {
      context.locals[id.value] = made;
    }
  }
}

// Values that are written become variables.
// spec/hlsl 13.2: a value that the callee writes.
void CopyParameters(LowerContext& context, const Function& function) {
  for (const LocalId id : function.parameters) {
    const Local& local = context.unit[id];
    if (local.passing != Passing::kIn || !local.written ||
        ObjectOf(context, local.type) != nullptr) {
      continue;
    }
    context.at = local.at;
    const ir::TypeId type = TypeOf(context, local.type);
    const ir::LocalId copy = context.builder.AddLocal(
        {.name = context.builder.Text(local.name), .type = type},
        {.name = context.SpanOf(local.at), .type = context.SpanOf(local.at)});
    const ir::InstId value = context.Emit(ir::ParamInst{type, context.parameters[id.value]});
    context.Emit(ir::VariableInst{context.builder.Void(), copy, value});
    context.locals[id.value] = copy;
  }
}

// Its callees were lowered before, so calls in it find their declarations.
void LowerFunction(LowerContext& context, FunctionId id) {
  const Function& function = context.unit[id];
  context.function = id;
  ir::DeclSpans spans{.name = context.SpanOf(function.at), .type = context.SpanOf(function.at)};
  ir::Decl row{.kind = ir::DeclKind::kFunction,
               .name = context.builder.Text(function.name),
               .type = TypeOf(context, function.result)};
  if (function.condition.valid()) {
    row.condition = CexprOf(context, function.condition, &spans.condition);
  }
  const ir::DeclId decl = context.builder.BeginFunction(row, spans);
  AddAttributes(context, function.attributes, false, decl.value);
  AddParameters(context, function);
  CopyParameters(context, function);
  LowerBody(context, function.body);
  // The checker proved that the end is not reached.
  if (context.TypeRow(function.result).kind != TypeKind::kVoid) {
    context.at = function.at;
    context.Emit(ir::UnreachableInst{context.builder.Void()});
  }
  context.builder.EndFunction();
  context.functions[id.value] = decl;
}

}  // namespace

void LowerFunctions(LowerContext& context) {
  const auto count = static_cast<uint32_t>(context.unit.functions.size());
  std::vector<bool> seen(count);
  struct Step {
    FunctionId id;
    size_t next = 0;
  };
  // Every function is lowered, called or not: which are reached is a question of a variant.
  for (uint32_t first = 0; first < count; ++first) {
    std::vector<Step> stack;
    const auto visit = [&](uint32_t id) {
      if (!seen[id]) {
        seen[id] = true;
        stack.push_back({FunctionId{id}});
      }
    };
    visit(first);
    while (!stack.empty()) {
      CheckStop();
      Step& step = stack.back();
      const Function& function = context.unit[step.id];
      if (step.next < function.calls.size()) {
        visit(function.calls[step.next++].value);
        continue;
      }
      const FunctionId id = step.id;
      stack.pop_back();
      if (function.body.valid()) {
        LowerFunction(context, id);
      }
    }
  }
}

}  // namespace kiln::hlsl
