// SPDX-License-Identifier: MIT
// Workgroup memory begins as zero: an entry point that reaches some has its first invocation write
// zero, and all wait for it.
#include "compiler/front/wgsl/lower/function.h"

#include <vector>

#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/lower/call.h"
#include "compiler/front/wgsl/lower/interface.h"
#include "compiler/front/wgsl/lower/memory.h"
#include "compiler/front/wgsl/lower/statement.h"
#include "compiler/front/wgsl/lower/type.h"
#include "compiler/front/wgsl/lower/zero.h"
#include "compiler/ir/specialised.h"

namespace kiln::wgsl::front {
namespace {

// Workgroup variables that a function reaches, in the order of their declarations.
// A walk with a stack over calls. The result is by declaration, not by the order of the walk,
// so it does not change with the order of functions.
std::vector<GlobalId> SharedOf(const Unit& unit, const FunctionRow& entry) {
  std::vector<bool> reached(unit.globals.size());
  std::vector<bool> seen(unit.functions.size());
  std::vector<const FunctionRow*> pending{&entry};
  while (!pending.empty()) {
    CheckStop();
    const FunctionRow& row = *pending.back();
    pending.pop_back();
    for (const GlobalId id : row.globals) {
      reached[id.value] = true;
    }
    for (const FunctionId id : row.calls) {
      if (!seen[id.value]) {
        seen[id.value] = true;
        pending.push_back(&unit[id]);
      }
    }
  }
  std::vector<GlobalId> shared;
  for (uint32_t i = 0; i < unit.globals.size(); ++i) {
    if (reached[i] && unit.globals[i].kind == GlobalKind::kWorkgroup) {
      shared.push_back(GlobalId{i});
    }
  }
  return shared;
}

// The interface counts members of the whole module, parameters among them: AddInterface is told
// the number of each.
void AddParameters(LowerContext& context, const FunctionRow& function) {
  for (const LocalId id : function.parameters) {
    const Local& local = context.unit[id];
    const Passing passing = PassingOf(context.types[local.type]);
    const ir::SpanId span = context.SpanOf(local.at);
    context.locals[id.value] =
        context.builder.AddParameter({.name = context.builder.Text(local.name),
                                      .type = TypeOf(context, local.type),
                                      .access = passing == Passing::kValue    ? ir::Access::kIn
                                                : passing == Passing::kCopied ? ir::Access::kInOut
                                                                              : ir::Access::kPlace},
                                     {.name = span, .type = span});
    AddInterface(context, local.attributes, true, context.member_count++);
  }
}

bool IsInvocationIndex(const LowerContext& context, uint32_t attributes) {
  return attributes != kNoRow &&
         context.unit.attributes[attributes].builtin == "local_invocation_index";
}

// The number of the invocation in its workgroup: what the entry point takes, or one parameter more.
// A parameter that is added has no name of the source. It is only added to entry points, which
// nobody calls.
ir::InstId InvocationIndex(LowerContext& context, const FunctionRow& function) {
  const ir::TypeId word = context.Vector(ir::Scalar::kU32, 1);
  for (const LocalId id : function.parameters) {
    const Local& local = context.unit[id];
    const ir::LocalId parameter = context.locals[id.value];
    if (IsInvocationIndex(context, local.attributes)) {
      return context.Emit(ir::ParamInst{word, parameter});
    }
    if (context.types[local.type].kind != TypeKind::kStruct) {
      continue;
    }
    const std::vector<StructMember>& members = context.types.StructOf(local.type).members;
    for (uint32_t i = 0; i < members.size(); ++i) {
      if (IsInvocationIndex(context, members[i].attributes)) {
        // As a member of a struct that is a parameter.
        const ir::InstId whole =
            context.Emit(ir::ParamInst{TypeOf(context, local.type), parameter});
        return context.Emit(ir::ExtractInst{word, whole, i});
      }
    }
  }
  const ir::SpanId span = context.SpanOf(function.at);
  const ir::LocalId added =
      context.builder.AddParameter({.name = context.builder.Text("first_invocation"), .type = word},
                                   {.name = span, .type = span});
  AddBuiltin(context, "LocalInvocationIndex", context.member_count++);
  return context.Emit(ir::ParamInst{word, added});
}

// Callees are lowered before (check put them in this order), so their ids are known.
void LowerFunction(LowerContext& context, FunctionId id) {
  const FunctionRow& function = context.unit[id];
  const ir::SpanId span = context.SpanOf(function.at);
  const ir::DeclId decl =
      context.builder.BeginFunction({.kind = ir::DeclKind::kFunction,
                                     .name = context.builder.Text(function.name),
                                     .type = TypeOf(context, function.result)},
                                    {.name = span, .type = span});
  AddInterface(context, function.result_attributes, false, decl.value);
  AddParameters(context, function);
  context.at = function.at;
  // Zero is written before anything of the body, and only what this entry point reaches.
  if (function.stage == static_cast<uint32_t>(ir::Stage::kCompute)) {
    if (const std::vector<GlobalId> shared = SharedOf(context.unit, function); !shared.empty()) {
      ZeroShared(context, InvocationIndex(context, function), shared);
    }
  }
  LowerBody(context, function.body);
  // Check proved that control does not come here where there is a result; the IR wants a block
  // to end.
  if (function.result != context.types.Void()) {
    context.at = function.at;
    context.Emit(ir::UnreachableInst{context.builder.Void()});
  }
  context.builder.EndFunction();
  context.functions[id.value] = decl;
}

}  // namespace

void LowerFunctions(LowerContext& context) {
  for (uint32_t i = 0; i < context.unit.functions.size(); ++i) {
    CheckStop();
    LowerFunction(context, FunctionId{i});
  }
}

}  // namespace kiln::wgsl::front
