// SPDX-License-Identifier: MIT
// Loads and conversions. WGSL converts by itself only from abstract to concrete numbers, and
// only constants are abstract; so a conversion here is always one of constants, and computed at
// once. Everything that needs a value goes through ValueOf, which makes the load, and nothing
// else makes one.
#include "compiler/front/wgsl/check/expressions/value.h"

#include <algorithm>

#include "compiler/front/wgsl/sema/overload.h"

namespace kiln::wgsl::front {

// WGSL, "Load Rule": where a value is needed a place becomes a load of it. Nothing else makes
// loads.
ExprId ValueOf(CheckContext& context, ExprId id) {
  if (context.IsFailed(id)) {
    return id;
  }
  const Expr expr = context.Get(id);
  if (expr.kind < ExprKind::kConstant) {
    context.Mismatch(expr.at, "value", context.FoundText(id));
    return context.Failed(expr.at);
  }
  if (!expr.Is(Expr::kPlace)) {
    return id;
  }
  // An atomic, or an array without a size, is no value as a whole.
  if (!context.types().IsConstructible(expr.type)) {
    context.Mismatch(expr.at, "value", "memory that holds " + context.types().Text(expr.type));
    return context.Failed(expr.at);
  }
  if (expr.access == AccessMode::kWrite) {
    context.Forbid(expr.at, "its memory is only written");
    return context.Failed(expr.at);
  }
  return context.Add({.kind = ExprKind::kLoad,
                      .rate = Rate::kRun,
                      .type = expr.type,
                      .a = id.value,
                      .at = expr.at});
}

// Shapes must agree: conversions are those of scalars. Of arrays those of their items, which
// recurse as deep as types are nested.
bool Converts(CheckContext& context, TypeId from, TypeId to) {
  if (from == to) {
    return true;
  }
  const Type a = context.types()[from];
  const Type b = context.types()[to];
  if (a.kind != b.kind || a.rows != b.rows || a.columns != b.columns || a.count != b.count) {
    return false;
  }
  if (a.kind == TypeKind::kArray) {
    return a.open == b.open && Converts(context, TypeId{a.element}, TypeId{b.element});
  }
  return a.kind >= TypeKind::kScalar && a.kind <= TypeKind::kMatrix &&
         RankOf(a.scalar, b.scalar).has_value();
}

// Only constants convert, as only they can be abstract. A failed type asks for nothing: then
// another error was said.
ExprId Converted(CheckContext& context, ExprId id, TypeId to) {
  id = ValueOf(context, id);
  if (context.IsFailed(id) || context.TypeOf(id) == to || to == context.types().Failed()) {
    return id;
  }
  const Expr expr = context.Get(id);
  if (!Converts(context, expr.type, to) || expr.kind != ExprKind::kConstant) {
    context.Mismatch(expr.at, context.types().Text(to), context.TypeText(id));
    return context.Failed(expr.at);
  }
  // Leaf by leaf, as a struct or array may hold scalars of several kinds.
  std::vector<ScalarKind> from;
  std::vector<ScalarKind> kinds;
  AddLeafKinds(context.types(), expr.type, from);
  AddLeafKinds(context.types(), to, kinds);
  std::vector<Word> words(context.unit.WordsOf(expr).begin(), context.unit.WordsOf(expr).end());
  for (size_t i = 0; i < words.size(); ++i) {
    const ScalarResult folded = ConvertExact(from[i], kinds[i], words[i]);
    if (!folded.ok()) {
      context.Say(context.At(Code::kWgsl3002, expr.at)
                      .With("value", TextOf(from[i], words[i]))
                      .With("type", TextOf(kinds[i])));
      return context.Failed(expr.at);
    }
    words[i] = folded.word;
  }
  return context.AddConstant(to, words, expr.at);
}

// WGSL, "Abstract Types": what is stored or computed when it runs has a concrete type.
ExprId Concrete(CheckContext& context, ExprId id) {
  id = ValueOf(context, id);
  return context.IsFailed(id)
             ? id
             : Converted(context, id, context.types().Concrete(context.TypeOf(id)));
}

// The limit is looked at before the leaves are made: an array of a million items is one number
// so far.
ExprId Zero(CheckContext& context, TypeId type, TokenRange at) {
  const uint64_t leaves = context.types().LeavesOf(type);
  if (leaves > context.limits.value_items) {
    context.Say(context.At(Code::kWgsl1007, at)
                    .With("what", "items of a constant")
                    .With("limit", context.limits.value_items));
    return context.Failed(at);
  }
  std::vector<ScalarKind> kinds;
  AddLeafKinds(context.types(), type, kinds);
  std::vector<Word> words;
  for (const ScalarKind kind : kinds) {
    words.push_back(IsFloat(kind) ? WordOf(0.0) : Word{0});
  }
  return context.AddConstant(type, words, at);
}

// A number where one integer is asked for: sizes, indices, labels.
std::optional<int64_t> WholeOf(const CheckContext& context, ExprId id) {
  if (context.IsFailed(id) || context.Get(id).kind != ExprKind::kConstant ||
      context.TypeRowOf(id).kind != TypeKind::kScalar || !IsInteger(context.TypeRowOf(id).scalar)) {
    return std::nullopt;
  }
  return IntOf(context.unit.WordsOf(context.Get(id))[0]);
}

// Kinds of all scalars of a value in their order in memory. Requires: few enough leaves; a
// constant has these.
void AddLeafKinds(const Types& types, TypeId id, std::vector<ScalarKind>& kinds) {
  const Type& type = types[id];
  if (type.kind == TypeKind::kArray) {
    // Items are all the same: found once, then repeated.
    std::vector<ScalarKind> item;
    AddLeafKinds(types, TypeId{type.element}, item);
    for (uint32_t i = 0; i < type.count; ++i) {
      kinds.insert(kinds.end(), item.begin(), item.end());
    }
  } else if (type.kind == TypeKind::kStruct) {
    for (const StructMember& member : types.StructOf(id).members) {
      AddLeafKinds(types, member.type, kinds);
    }
  } else {
    kinds.insert(kinds.end(), size_t{type.rows} * type.columns, type.scalar);
  }
}

// The words of part `index` of a constant. The view lies in what grows with constants: copy it,
// or use it before another one is made.
std::span<const Word> PartOf(CheckContext& context, ExprId constant, uint32_t index) {
  const Expr& expr = context.Get(constant);
  const Types& types = context.types();
  const Type& type = types[expr.type];
  uint64_t first = 0;
  uint64_t count = 0;
  if (type.kind == TypeKind::kStruct) {
    const Struct& row = types.StructOf(expr.type);
    for (uint32_t i = 0; i < index; ++i) {
      first += types.LeavesOf(row.members[i].type);
    }
    count = types.LeavesOf(row.members[index].type);
  } else {
    count = type.kind == TypeKind::kArray    ? types.LeavesOf(TypeId{type.element})
            : type.kind == TypeKind::kMatrix ? type.rows
                                             : 1;
    first = count * index;
  }
  return context.unit.WordsOf(expr).subspan(first, count);
}

}  // namespace kiln::wgsl::front
