// SPDX-License-Identifier: MIT
// Facts flow against calls, from a callee to what it was given, or along them. They are settled
// when all calls are known, each of which is an edge between two variables.
#include "compiler/front/hlsl/check/resources/handle.h"

#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/check/access.h"
#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/expression.h"
#include "compiler/front/hlsl/check/name.h"
#include "compiler/front/hlsl/check/resources/flow.h"
#include "compiler/front/hlsl/sema/object.h"

namespace kiln::hlsl {
namespace {

// The declaration or parameter that a handle is of.
// Indices are walked past: all items of an array share its facts.
ExprId OwnerOf(const CheckContext& context, ExprId handle) {
  while (context.Get(handle).kind == ExprKind::kIndex) {
    handle = ExprId{context.Get(handle).a};
  }
  return handle;
}

// Null where a handle has no declaration of its own.
bool* ComparedOf(CheckContext& context, ExprId handle) {
  const Expr& owner = context.Get(OwnerOf(context, handle));
  if (owner.kind == ExprKind::kGlobal) {
    return &context.unit[GlobalId{owner.a}].compared;
  }
  return owner.kind == ExprKind::kLocal ? &context.unit[LocalId{owner.a}].compared : nullptr;
}

// A copy of a handle whose indices are variables of their own.
// `Texture2D t = all[i];` stands for all[i] as it was: i may change later, so it is copied into
// a variable.
ExprId CaptureHandle(CheckContext& context, ExprId handle, std::vector<StmtId>& into) {
  Expr made = context.Get(handle);
  if (made.kind != ExprKind::kIndex) {
    return handle;
  }
  made.a = CaptureHandle(context, ExprId{made.a}, into).value;
  const Expr index = context.Get(ExprId{made.b});
  if (index.kind != ExprKind::kConstant) {
    const LocalId local = context.AddLocal({.name = "index", .type = index.type, .at = index.at});
    context.unit[context.function].locals.push_back(local);
    into.push_back(context.Add(
        Stmt{.kind = StmtKind::kDeclare, .at = index.at, .a = ExprId{made.b}, .local = local}));
    made.b = context
                 .Add({.kind = ExprKind::kLocal,
                       .flags = Expr::kPlace,
                       .type = index.type,
                       .a = local.value,
                       .at = index.at})
                 .value;
  }
  return context.Add(made);
}

// What a resource is handed to; invalid: a function without a body.
LocalId ParameterOf(const CheckContext& context, const HandedOn& row) {
  const std::vector<LocalId>& parameters = context.unit[row.callee].parameters;
  return row.parameter < parameters.size() ? parameters[row.parameter] : LocalId{};
}

// Whether which item it is is known only when it runs.
bool IsPicked(const CheckContext& context, ExprId handle) {
  while (context.Get(handle).kind == ExprKind::kIndex) {
    if (context.Get(ExprId{context.Get(handle).b}).kind != ExprKind::kConstant) {
      return true;
    }
    handle = ExprId{context.Get(handle).a};
  }
  const Expr& owner = context.Get(handle);
  return owner.kind == ExprKind::kLocal && context.unit.locals[owner.a].picked;
}

// Of locals first, then of globals.
uint32_t NodeOf(const CheckContext& context, const Expr& owner) {
  return owner.kind == ExprKind::kLocal
             ? owner.a
             : static_cast<uint32_t>(context.unit.locals.size()) + owner.a;
}
bool IsNode(const Expr& owner) {
  return owner.kind == ExprKind::kLocal || owner.kind == ExprKind::kGlobal;
}

// What is picked from an array by a value is one thing only when it runs: the parameter is a
// pointer then, and its type is that of what it is given. From arguments to parameters.
void SettlePicked(CheckContext& context) {
  Flow flow(context.unit.locals.size());
  for (const HandedOn& row : context.handed_on) {
    CheckStop();
    const LocalId parameter = ParameterOf(context, row);
    if (!parameter.valid()) {
      continue;
    }
    if (IsPicked(context, row.argument)) {
      flow.Set(parameter.value);
    }
    const Expr& owner = context.Get(OwnerOf(context, row.argument));
    if (owner.kind == ExprKind::kLocal) {
      flow.Add(owner.a, parameter.value);
    }
  }
  flow.Settle();
  for (uint32_t i = 0; i < context.unit.locals.size(); ++i) {
    context.unit.locals[i].picked = context.unit.locals[i].picked || flow.Has(i);
  }
}

// One image is compared with or not, for all calls: from parameter to argument, and back where
// the parameter is picked when it runs.
void SettleCompared(CheckContext& context) {
  const size_t locals = context.unit.locals.size();
  const size_t nodes = locals + context.unit.globals.size();
  const auto compared = [&](size_t node) -> bool& {
    return node < locals ? context.unit.locals[node].compared
                         : context.unit.globals[node - locals].compared;
  };
  Flow flow(nodes);
  for (const HandedOn& row : context.handed_on) {
    CheckStop();
    const LocalId parameter = ParameterOf(context, row);
    const Expr& owner = context.Get(OwnerOf(context, row.argument));
    if (!parameter.valid() || !IsNode(owner)) {
      continue;
    }
    flow.Add(parameter.value, NodeOf(context, owner));
    if (context.unit[parameter].picked) {
      flow.Add(NodeOf(context, owner), parameter.value);
    }
  }
  for (uint32_t i = 0; i < nodes; ++i) {
    if (compared(i)) {
      flow.Set(i);
    }
  }
  flow.Settle();
  for (uint32_t i = 0; i < nodes; ++i) {
    compared(i) = flow.Has(i);
  }
}

// Pointers are there for sampled images and samplers alone.
// Buffers that are picked would need pointers to blocks, which are refused by name (spec/hlsl
// 14.3).
void CheckPicked(CheckContext& context) {
  for (const HandedOn& row : context.handed_on) {
    const Expr& argument = context.Get(row.argument);
    if (!IsPicked(context, row.argument)) {
      continue;
    }
    const Type& type = context.types()[argument.type];
    const bool object = type.kind == TypeKind::kObject;
    const ObjectShape shape = object ? FactsOf(type.object).shape : ObjectShape::kOther;
    const bool pointer = shape == ObjectShape::kSampler ||
                         (shape == ObjectShape::kImage && !FactsOf(type.object).writable);
    if (!pointer) {
      context.Refuse(argument.at, context.Text(argument.at),
                     "buffers and written images that are picked when it runs, as arguments");
    }
  }
}

// Its first parameter is the object.
bool WritesObject(const CheckContext& context, FunctionId method) {
  const std::vector<LocalId>& parameters = context.unit[method].parameters;
  return !parameters.empty() && context.unit[parameters[0]].written;
}

// Marks what a writing method is called with: from its object to the root of what is given.
void SettleWritten(CheckContext& context) {
  Flow flow(context.unit.locals.size());
  for (const ObjectCall& row : context.object_calls) {
    CheckStop();
    const std::vector<LocalId>& parameters = context.unit[row.callee].parameters;
    const Expr& root = context.Get(RootOf(context, row.object));
    if (parameters.empty() || root.kind != ExprKind::kLocal ||
        !context.Get(row.object).Is(Expr::kPlace)) {
      continue;
    }
    flow.Add(parameters[0].value, root.a);
    if (context.unit[parameters[0]].written) {
      flow.Set(parameters[0].value);
    }
  }
  flow.Settle();
  for (uint32_t i = 0; i < context.unit.locals.size(); ++i) {
    context.unit.locals[i].written = context.unit.locals[i].written || flow.Has(i);
  }
}

// spec/hlsl 13.2: an object that a method writes is `inout`. A constant one is an error at the
// call.
void CheckObjects(CheckContext& context) {
  for (const ObjectCall& row : context.object_calls) {
    if (!WritesObject(context, row.callee)) {
      continue;
    }
    const Expr object = context.Get(row.object);
    const bool constant =
        object.Is(Expr::kPlace) ? object.Is(Expr::kConst) : object.kind == ExprKind::kConstant;
    if (constant) {
      context.Say(context.At(Code::kHlsl2018, object.at)
                      .With("text", context.Text(object.at))
                      .With("reason", "constant"));
    } else if (object.Is(Expr::kPlace)) {
      CheckWritable(context, row.object);
    }
  }
  // Only now: whether a body writes its object was not known while calls were checked.
  for (Function& function : context.unit.functions) {
    if (function.method && !function.parameters.empty() &&
        context.unit[function.parameters[0]].written) {
      function.parameter_types[0].passing = Passing::kInOut;
      context.unit[function.parameters[0]].passing = Passing::kInOut;
    }
  }
}

}  // namespace

bool IsBlock(const Types& types, TypeId type) {
  return types[type].kind == TypeKind::kObject &&
         FactsOf(types[type].object).shape == ObjectShape::kBlock;
}

// The block itself under the type of its content: read only.
ExprId ContentOf(CheckContext& context, ExprId block) {
  Expr content = context.Get(block);
  content.type = TypeId{context.types()[content.type].element};
  content.flags |= Expr::kPlace | Expr::kConst;
  return context.Add(content);
}

void NoteCompared(CheckContext& context, ExprId image) {
  if (bool* const compared = ComparedOf(context, image)) {
    *compared = true;
  }
}

// A local resource is not a variable but another name of a handle.
void DeclareHandle(CheckContext& context, const syntax::Variable& variable, TypeId type,
                   std::vector<StmtId>& into) {
  const ExprId value = CheckExpr(context, variable.initialiser);
  const ExprId handle =
      ConvertTo(context, value, type, ConversionUse::kImplicit, context.Get(value).at);
  const bool failed = context.Get(handle).kind == ExprKind::kFailed;
  const LocalId local = context.AddLocal({.name = context.Text(variable.name),
                                          .type = failed ? context.types().Failed() : type,
                                          .at = {variable.name, variable.name + 1}});
  if (!failed) {
    const ExprId known = CaptureHandle(context, handle, into);
    context.unit[local].known = known;
  }
  Declare(context, variable.name,
          {.kind = SymbolKind::kLocal, .id = local.value, .type = context.unit[local].type});
}

// Three facts, in the order in which they rest on each other.
void Settle(CheckContext& context) {
  SettlePicked(context);
  SettleCompared(context);
  CheckPicked(context);
  SettleWritten(context);
  CheckObjects(context);
}

}  // namespace kiln::hlsl
