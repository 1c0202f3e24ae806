// SPDX-License-Identifier: MIT
// Facts flow against calls, from a callee to what it was given. Each pass over the calls moves them
// one call further, so chains of n calls take n passes at most; there are as many passes as facts
// that change, and a fact never changes back.
#include "compiler/front/hlsl/check/resources/handle.h"

#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/check/access.h"
#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/expression.h"
#include "compiler/front/hlsl/check/name.h"
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
    const LocalId local{static_cast<uint32_t>(context.unit.locals.size())};
    context.unit.locals.push_back({.name = "index", .type = index.type, .at = index.at});
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

// What a resource is handed to; null: a function without a body.
Local* ParameterOf(CheckContext& context, const HandedOn& row) {
  const std::vector<LocalId>& parameters = context.unit[row.callee].parameters;
  return row.parameter < parameters.size() ? &context.unit[parameters[row.parameter]] : nullptr;
}

// What is picked from an array by a value is one thing only when it runs: the parameter is a
// pointer then, and its type is that of what it is given.
// One image is compared with or not, for all calls: from parameter to argument, and back where
// the parameter is picked when it runs.
bool PassCompared(CheckContext& context) {
  bool changed = false;
  for (const HandedOn& row : context.handed_on) {
    CheckStop();
    Local* const parameter = ParameterOf(context, row);
    bool* const compared = ComparedOf(context, row.argument);
    if (parameter == nullptr || compared == nullptr || *compared == parameter->compared ||
        (*compared && !parameter->picked)) {
      continue;
    }
    *compared = true;
    parameter->compared = true;
    changed = true;
  }
  return changed;
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

// From arguments to parameters, until nothing changes.
bool PassPicked(CheckContext& context) {
  bool changed = false;
  for (const HandedOn& row : context.handed_on) {
    CheckStop();
    Local* const parameter = ParameterOf(context, row);
    if (parameter != nullptr && !parameter->picked && IsPicked(context, row.argument)) {
      parameter->picked = true;
      changed = true;
    }
  }
  return changed;
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

// Marks what a writing method is called with; whether that was news.
bool PassWritten(CheckContext& context) {
  bool changed = false;
  for (const ObjectCall& row : context.object_calls) {
    CheckStop();
    const Expr& root = context.Get(RootOf(context, row.object));
    const bool local = root.kind == ExprKind::kLocal && context.Get(row.object).Is(Expr::kPlace);
    if (local && !context.unit[LocalId{root.a}].written && WritesObject(context, row.callee)) {
      context.unit[LocalId{root.a}].written = true;
      changed = true;
    }
  }
  return changed;
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
  const LocalId local{static_cast<uint32_t>(context.unit.locals.size())};
  context.unit.locals.push_back({.name = context.Text(variable.name),
                                 .type = failed ? context.types().Failed() : type,
                                 .at = {variable.name, variable.name + 1}});
  if (!failed) {
    const ExprId known = CaptureHandle(context, handle, into);
    context.unit[local].known = known;
  }
  Declare(context, variable.name,
          {.kind = SymbolKind::kLocal, .id = local.value, .type = context.unit[local].type});
}

// Three facts, each passed on until it is stable, in the order in which they rest on each
// other.
void Settle(CheckContext& context) {
  while (PassPicked(context)) {
  }
  while (PassCompared(context)) {
  }
  CheckPicked(context);
  while (PassWritten(context)) {
  }
  CheckObjects(context);
}

}  // namespace kiln::hlsl
