// SPDX-License-Identifier: MIT
// Parts of values and places: members, indices, swizzles, and the two operators that go from a
// place to a pointer and back. A part of a place is a place with the address space and access
// mode of the whole; a part of a constant is a constant, cut out of its leaves; a part of any
// other value is a value.
#include "compiler/front/wgsl/check/expressions/access.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/front/wgsl/check/expressions/value.h"
#include "compiler/ir/insts.h"

namespace kiln::wgsl::front {
namespace {

// A part of a value or place, which is a place where the whole is.
// Space and access are those of the whole: a part of a storage buffer is storage. The rate is
// at least that of the whole.
ExprId AddPart(CheckContext& context, Expr row, ExprId of) {
  const Expr& whole = context.Get(of);
  row.a = of.value;
  row.flags = whole.flags & Expr::kPlace;
  row.space = whole.space;
  row.access = whole.access;
  row.rate = std::max(row.rate, whole.rate);
  return context.Add(row);
}

// `p.x` and `p[i]` of a pointer are those of what it points to.
// WGSL, language extension `pointer_composite_access`.
ExprId Pointed(CheckContext& context, ExprId of, TokenRange at) {
  return context.TypeRowOf(of).kind == TypeKind::kPointer ? CheckIndirection(context, of, at) : of;
}

// What stands for a type, a function or a word has no parts. Kinds before kConstant are these.
bool IsSomething(CheckContext& context, ExprId of) {
  if (context.Get(of).kind < ExprKind::kConstant) {
    context.Mismatch(context.Get(of).at, "value", context.FoundText(of));
    return false;
  }
  return true;
}

// The letters of a swizzle, or nothing: all of `xyzw` or all of `rgba`, at most four.
// Letters that the vector does not have are none, so `.z` of a vector of two is no swizzle.
// Sets do not mix: each is tried on its own.
std::vector<uint8_t> LettersOf(std::string_view name, uint32_t rows) {
  std::vector<uint8_t> letters;
  for (const std::string_view set : {std::string_view("xyzw"), std::string_view("rgba")}) {
    if (name.size() <= 4 && name.find_first_not_of(set.substr(0, rows)) == std::string_view::npos) {
      for (const char c : name) {
        letters.push_back(static_cast<uint8_t>(set.find(c)));
      }
      return letters;
    }
  }
  return letters;
}

ExprId Swizzle(CheckContext& context, ExprId of, std::string_view name, TokenRange at) {
  const Type type = context.TypeRowOf(of);
  const std::vector<uint8_t> letters = LettersOf(name, type.rows);
  if (letters.empty()) {
    context.Forbid(at, "it is no swizzle of '" + context.TypeText(of) + "'");
    return context.Failed(at);
  }
  const TypeId made = context.types().Vector(type.scalar, static_cast<uint32_t>(letters.size()));
  // One letter is an index: it is a place where the vector is one, and only then may it be
  // written.
  if (letters.size() == 1) {
    const Word word = letters[0];
    const ExprId index =
        context.AddConstant(context.types().Scalar(ScalarKind::kU32), std::span(&word, 1), at);
    return CheckIndex(context, of, index, at);
  }
  // Several letters are a value (spec/wgsl 5.2): what is a place is loaded first.
  const ExprId value = ValueOf(context, of);
  if (context.IsFailed(value)) {
    return value;
  }
  const Expr expr = context.Get(value);
  if (expr.kind == ExprKind::kConstant) {
    std::vector<Word> words;
    for (const uint8_t letter : letters) {
      words.push_back(context.unit.WordsOf(expr)[letter]);
    }
    return context.AddConstant(made, words, at);
  }
  uint8_t packed[4] = {};
  std::copy(letters.begin(), letters.end(), packed);
  return context.Add({.kind = ExprKind::kSwizzle,
                      .rate = expr.rate,
                      .type = made,
                      .a = value.value,
                      .b = ir::PackSwizzle(static_cast<uint32_t>(letters.size()), packed),
                      .at = at});
}

}  // namespace

ExprId CheckMember(CheckContext& context, ExprId of, uint32_t name, TokenRange at) {
  if (context.IsFailed(of) || !IsSomething(context, of)) {
    return context.Failed(at);
  }
  of = Pointed(context, of, at);
  if (context.IsFailed(of)) {
    return of;
  }
  const Type type = context.TypeRowOf(of);
  const std::string_view text = context.Text(name);
  if (type.kind == TypeKind::kVector) {
    return Swizzle(context, of, text, at);
  }
  if (type.kind == TypeKind::kStruct) {
    const uint32_t declared = context.types()[StructId{type.element}].token;
    const std::vector<StructMember>& members = context.types()[StructId{type.element}].members;
    for (uint32_t i = 0; i < members.size(); ++i) {
      if (members[i].name != text) {
        continue;
      }
      const TypeId part = members[i].type;
      context.NoteMention(name, declared, i);
      // Parts of constants are constants: no row stands between them and the leaves.
      if (context.Get(of).kind == ExprKind::kConstant) {
        const std::span<const Word> words = PartOf(context, of, i);
        return context.AddConstant(part, words, at);
      }
      return AddPart(
          context,
          {.kind = ExprKind::kMember, .rate = Rate::kConst, .type = part, .b = i, .at = at}, of);
    }
  }
  context.Say(context.At(Code::kWgsl1005, name)
                  .With("kind", "member of '" + context.TypeText(of) + "'")
                  .With("name", text));
  return context.Failed(at);
}

// WGSL, "Array Access Expression" and its like. An index that is known must be in range; one
// that is not is bounded when it runs.
ExprId CheckIndex(CheckContext& context, ExprId of, ExprId index, TokenRange at) {
  if (context.IsFailed(of) || !IsSomething(context, of)) {
    return context.Failed(at);
  }
  of = Pointed(context, of, at);
  index = Concrete(context, index);
  if (context.IsFailed(of) || context.IsFailed(index)) {
    return context.Failed(at);
  }
  const TypeId element = context.types().ElementOf(context.TypeOf(of));
  const Type number = context.TypeRowOf(index);
  if (element == context.types().Failed()) {
    context.Mismatch(context.Get(of).at, "array, vector or matrix", context.TypeText(of));
    return context.Failed(at);
  }
  if (number.kind != TypeKind::kScalar || !IsInteger(number.scalar)) {
    context.Mismatch(context.Get(index).at, "i32 or u32", context.TypeText(index));
    return context.Failed(at);
  }
  // 0 where only an override or memory says how many there are: then nothing is too large yet.
  const uint32_t count = context.types().CountOf(context.TypeOf(of));
  const std::optional<int64_t> known = WholeOf(context, index);
  if (known.has_value() && (*known < 0 || (count != 0 && *known >= count))) {
    context.Say(context.At(Code::kWgsl3001, context.Get(index).at)
                    .With("op", "[]")
                    .With("reason", "index " + std::to_string(*known) + " is out of range"));
    return context.Failed(at);
  }
  if (known.has_value() && context.Get(of).kind == ExprKind::kConstant) {
    return context.AddConstant(element, PartOf(context, of, static_cast<uint32_t>(*known)), at);
  }
  Expr row{.kind = ExprKind::kIndex,
           .rate = context.Get(index).rate,
           .type = element,
           .b = index.value,
           .at = at};
  // A component of a vector has no address in WGSL, which CheckAddress asks for.
  row.is_component = context.TypeRowOf(of).kind == TypeKind::kVector;
  return AddPart(context, row, of);
}

// `&e`: e is a place, and the pointer takes its space and access.
ExprId CheckAddress(CheckContext& context, ExprId of, TokenRange at) {
  if (context.IsFailed(of)) {
    return context.Failed(at);
  }
  const Expr expr = context.Get(of);
  if (!expr.Is(Expr::kPlace)) {
    context.Mismatch(expr.at, "variable or a part of one", context.FoundText(of));
    return context.Failed(at);
  }
  if (expr.is_component) {
    context.Forbid(at, "a component of a vector has no address");
    return context.Failed(at);
  }
  return context.Add({.kind = ExprKind::kAddress,
                      .rate = Rate::kRun,
                      .type = context.types().Pointer(expr.type, expr.space, expr.access),
                      .a = of.value,
                      .at = at});
}

// `*e`: a place again. A pointer is known when it runs only, as far as rates go.
ExprId CheckIndirection(CheckContext& context, ExprId of, TokenRange at) {
  if (context.IsFailed(of)) {
    return context.Failed(at);
  }
  const Type type = context.TypeRowOf(of);
  if (context.Get(of).kind < ExprKind::kConstant || type.kind != TypeKind::kPointer) {
    context.Mismatch(context.Get(of).at, "pointer", context.FoundText(of));
    return context.Failed(at);
  }
  return context.Add({.kind = ExprKind::kDeref,
                      .flags = Expr::kPlace,
                      .rate = Rate::kRun,
                      .type = TypeId{type.element},
                      .a = of.value,
                      .at = at,
                      .space = type.space,
                      .access = type.access});
}

}  // namespace kiln::wgsl::front
