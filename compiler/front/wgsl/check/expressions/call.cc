// SPDX-License-Identifier: MIT
// A call is decided by what its callee means: a type converts or constructs, a function of the
// module is called, a predeclared one is looked up among its overloads. Arguments were checked
// before, as rows; here they are loaded and converted, but for pointers, textures and samplers,
// which are passed as they are.
#include "compiler/front/wgsl/check/expressions/call.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/front/wgsl/check/expressions/construct.h"
#include "compiler/front/wgsl/check/expressions/memory_call.h"
#include "compiler/front/wgsl/check/expressions/operation.h"
#include "compiler/front/wgsl/check/expressions/texture_call.h"
#include "compiler/front/wgsl/check/expressions/value.h"

namespace kiln::wgsl::front {
namespace {

// What a pointer of memory that is shared may point to where it is passed: a place whose steps are
// known, and no block as a whole.
// Memory of the invocation is copied in and out, so any place of it will do. For other memory
// the callee takes the place itself, and one place cannot stand for an item that differs from
// call to call.
std::string_view RefusalOfPointer(const CheckContext& context, ExprId id) {
  const AddressSpace space = context.TypeRowOf(id).space;
  if (space == AddressSpace::kFunction || space == AddressSpace::kPrivate) {
    return {};
  }
  bool part = false;
  // Steps are walked from the pointer to its root; each `let` on the way is replaced by what it
  // is.
  while (true) {
    const Expr& expr = context.Get(id);
    switch (expr.kind) {
      case ExprKind::kIndex:
        if (context.Get(ExprId{expr.b}).kind != ExprKind::kConstant) {
          return "pointers to items that are chosen when it runs are not passed";
        }
        [[fallthrough]];
      case ExprKind::kMember:
        part = true;
        [[fallthrough]];
      case ExprKind::kAddress:
      case ExprKind::kDeref:
        id = ExprId{expr.a};
        break;
      case ExprKind::kLocal:
        // A parameter was checked where its own caller passed it.
        if (context.unit.locals[expr.a].kind != LocalKind::kLet) {
          return {};
        }
        id = context.unit.locals[expr.a].value;
        break;
      default: {
        const bool block = expr.kind == ExprKind::kGlobal &&
                           context.unit.globals[expr.a].kind == GlobalKind::kBuffer &&
                           context.unit.types[expr.type].kind == TypeKind::kStruct;
        return block && !part ? "pointers to a buffer of a struct as a whole are not passed" : "";
      }
    }
  }
}

// A texture, sampler or pointer is passed as it is; anything else as a value.
// Of a pointer, texture or sampler the type must be the same: nothing converts to it.
ExprId ArgumentOf(CheckContext& context, ExprId id, TypeId parameter) {
  const TypeKind kind = context.types()[parameter].kind;
  const bool handle = kind == TypeKind::kTexture || kind == TypeKind::kSampler;
  if (!handle && kind != TypeKind::kPointer) {
    return Converted(context, id, parameter);
  }
  if (context.IsFailed(id)) {
    return id;
  }
  const Expr expr = context.Get(id);
  if (expr.kind < ExprKind::kConstant || expr.type != parameter || expr.Is(Expr::kPlace)) {
    context.Mismatch(expr.at, context.types().Text(parameter), context.FoundText(id));
    return context.Failed(expr.at);
  }
  if (const std::string_view refusal =
          kind == TypeKind::kPointer ? RefusalOfPointer(context, id) : "";
      !refusal.empty()) {
    context.Refuse(expr.at, refusal);
    return context.Failed(expr.at);
  }
  return id;
}

ExprId CallFunction(CheckContext& context, FunctionId id, std::span<const ExprId> arguments,
                    TokenRange at) {
  const FunctionRow& callee = context.unit.functions[id.value];
  // An entry point has inputs and outputs that only the pipeline can give.
  if (callee.stage != kNoRow) {
    context.Forbid(at, "an entry point is not called");
    return context.Failed(at);
  }
  if (arguments.size() != callee.parameters.size()) {
    context.Forbid(at, "'" + std::string(callee.name) + "' takes " +
                           std::to_string(callee.parameters.size()) + " arguments, not " +
                           std::to_string(arguments.size()));
    return context.Failed(at);
  }
  std::vector<uint32_t> list;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ExprId value = ArgumentOf(context, arguments[i], context.unit[callee.parameters[i]].type);
    if (context.IsFailed(value)) {
      return context.Failed(at);
    }
    list.push_back(value.value);
  }
  // Outside of functions, in the value of a private variable, there is no caller to remember
  // anything.
  if (context.function.valid()) {
    FunctionRow& caller = context.Function();
    // The bit tells calls from mentions of variables, which are keys of the same table.
    const uint64_t key = uint64_t{1} << 63 | uint64_t{context.function.value} << 32 | id.value;
    if (context.mentioned.Insert(key, true).second) {
      caller.calls.push_back(id);
    }
    // The first call that needs a stage is kept, so that the message at an entry point can show
    // it.
    if (callee.needs_fragment != kNoRow && caller.needs_fragment == kNoRow) {
      caller.needs_fragment = at.begin;
    }
    if (callee.needs_compute != kNoRow && caller.needs_compute == kNoRow) {
      caller.needs_compute = at.begin;
    }
  }
  return context.Add({.kind = ExprKind::kCall,
                      .rate = Rate::kRun,
                      .type = callee.result,
                      .a = id.value,
                      .b = context.unit.AddList(list).value,
                      .at = at});
}

// bitcast<T> (e)
// WGSL, "Bit Reinterpretation Built-in Functions": between scalars and vectors of as many bits.
// The type is an argument of the template list, which became a row of its own when the name was
// checked.
ExprId Bitcast(CheckContext& context, const Expr& callee, std::span<const ExprId> arguments,
               TokenRange at) {
  const syntax::Expr& name = context.ast.exprs[callee.a];
  const std::span<const uint32_t> words = context.ast.List(syntax::ListId{name.a});
  // The list may hold expressions of any kind, so whether it is a type is asked for.
  if (words.size() != 1 || arguments.size() != 1) {
    context.Forbid(at, "'bitcast' takes a type and a value");
    return context.Failed(at);
  }
  const ExprId target = context.rows[words[0]];
  if (context.Get(target).kind != ExprKind::kType) {
    context.Mismatch(context.Get(target).at, "type", context.FoundText(target));
    return context.Failed(at);
  }
  const TypeId to = context.TypeOf(target);
  ExprId value = ValueOf(context, arguments[0]);
  if (context.IsFailed(value)) {
    return value;
  }
  // An abstract number has no bits: it is u32 where that is asked for and it is whole, else its
  // concrete type.
  if (context.types().IsAbstract(context.TypeOf(value))) {
    const bool to_uint = context.types()[to].scalar == ScalarKind::kU32;
    const bool whole = context.TypeRowOf(value).scalar == ScalarKind::kAbstractInt;
    value = to_uint && whole
                ? Converted(context, value,
                            context.types().WithScalar(context.TypeOf(value), ScalarKind::kU32))
                : Concrete(context, value);
    if (context.IsFailed(value)) {
      return value;
    }
  }
  const Type from = context.TypeRowOf(value);
  const Type type = context.types()[to];
  // 0 for what has no bits to take: flags, matrices, and what is no value.
  const auto bits = [](const Type& row) {
    const bool fits = (row.kind == TypeKind::kScalar || row.kind == TypeKind::kVector) &&
                      row.scalar != ScalarKind::kBool;
    return fits ? row.rows * (row.scalar == ScalarKind::kF16 ? 16u : 32u) : 0u;
  };
  if (bits(from) == 0 || bits(from) != bits(type)) {
    context.Say(context.At(Code::kWgsl2001, at)
                    .With("name", "bitcast<" + context.types().Text(to) + ">")
                    .With("found", context.TypeText(value)));
    return context.Failed(at);
  }
  const Expr expr = context.Get(value);
  // Nothing to do, and no constant to make.
  if (expr.type == to) {
    return value;
  }
  if (expr.kind != ExprKind::kConstant) {
    const uint32_t list[] = {value.value};
    return context.Add({.kind = ExprKind::kOperation,
                        .op = static_cast<uint8_t>(Function::kBitcast),
                        .rate = Rate::kRun,
                        .type = to,
                        .b = context.unit.AddList(list).value,
                        .at = at});
  }
  // All bits one after another, lowest first, cut anew.
  const uint32_t in = from.scalar == ScalarKind::kF16 ? 16 : 32;
  const uint32_t out = type.scalar == ScalarKind::kF16 ? 16 : 32;
  std::vector<Word> words_made;
  const std::span<const Word> source = context.unit.WordsOf(expr);
  // Items may differ in width: two halves make a word and the other way round. The inner loop
  // collects one item of the result from items of the source, each as many bits as the smaller
  // of the two has.
  for (uint32_t at_bit = 0; at_bit < bits(type); at_bit += out) {
    uint64_t made = 0;
    for (uint32_t bit = 0; bit < out; bit += std::min(in, out)) {
      const uint32_t from_bit = at_bit + bit;
      const uint64_t word = BitsOf(from.scalar, source[from_bit / in]) >> (from_bit % in);
      made |= (word & ((uint64_t{1} << std::min(in, out)) - 1)) << bit;
    }
    // Bits that are NaN or infinite are no constant: WGSL3001.
    const ScalarResult folded = FromBits(type.scalar, made);
    if (!folded.ok()) {
      context.Say(
          context.At(Code::kWgsl3001, at).With("op", "bitcast").With("reason", folded.fault));
      return context.Failed(at);
    }
    words_made.push_back(folded.word);
  }
  return context.AddConstant(to, words_made, at);
}

// Derivatives and barriers belong to a stage. Which entry points reach this function is not
// known yet, so the function keeps the place of the first one.
void NeedStage(CheckContext& context, Function function, TokenRange at) {
  if (!context.function.valid()) {
    return;
  }
  const FunctionStages stages = FactsOf(function).stages;
  FunctionRow& row = context.Function();
  if (stages == FunctionStages::kFragment && row.needs_fragment == kNoRow) {
    row.needs_fragment = at.begin;
  }
  if (stages == FunctionStages::kCompute && row.needs_compute == kNoRow) {
    row.needs_compute = at.begin;
  }
}

ExprId CallPredeclared(CheckContext& context, const Expr& callee, std::span<const ExprId> arguments,
                       TokenRange at) {
  const auto function = static_cast<Function>(callee.op);
  NeedStage(context, function, at);
  if (function == Function::kBitcast) {
    return Bitcast(context, callee, arguments, at);
  }
  // Only bitcast has arguments of the template list.
  if (context.ast.exprs[callee.a].a != syntax::kNoRow) {
    context.Forbid(callee.at, "it takes no template arguments");
    return context.Failed(at);
  }
  // The order of functions.def: numbers, then memory, then textures.
  if (function >= Function::kTextureDimensions) {
    return CheckTextureCall(context, function, arguments, at);
  }
  if (function >= Function::kArrayLength) {
    return CheckMemoryCall(context, function, arguments, at);
  }
  return MakeOperation(context, function, arguments, at);
}

}  // namespace

// What a call is depends on what its name means, not on how it looks: `f(x)` may be a
// conversion.
ExprId CheckCall(CheckContext& context, ExprId callee, std::span<const ExprId> arguments,
                 TokenRange at) {
  if (context.IsFailed(callee)) {
    return context.Failed(at);
  }
  const Expr expr = context.Get(callee);
  switch (expr.kind) {
    case ExprKind::kType:
      return Construct(context, expr.type, arguments, at);
    case ExprKind::kGenerator:
      return ConstructOf(context, context.Text(expr.at.begin), arguments, at);
    case ExprKind::kFunction:
      return CallFunction(context, FunctionId{expr.a}, arguments, at);
    case ExprKind::kPredeclared:
      return CallPredeclared(context, expr, arguments, at);
    default:
      context.Mismatch(expr.at, "function or type", context.FoundText(callee));
      return context.Failed(at);
  }
}

}  // namespace kiln::wgsl::front
