// SPDX-License-Identifier: MIT
// A part of a place is a place, a part of a constant is a constant. Reduced shapes keep their names
// for parts: `float1x3` has `_m02`, though its values are vectors of three.
// Order of meaning for `a.b`: a block is its content, a texture may have `mips`, a struct has
// members, a number has letters. Swizzles of swizzles stay rows of their own here; lowering
// puts their letters together.
#include "compiler/front/hlsl/check/access.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/build_operator.h"
#include "compiler/front/hlsl/check/resources/handle.h"
#include "compiler/front/hlsl/check/resources/method.h"
#include "compiler/ir/insts.h"

namespace kiln::hlsl {
namespace {

// Up to four components by number, in the order in which they are written.
struct Letters {
  uint8_t index[4] = {};
  uint32_t count = 0;
};

// "xz", "rgba": letters of one set, within the size.
// spec/hlsl 11: letters are all of one set. A letter that the vector does not have makes it no
// swizzle.
std::optional<Letters> SwizzleOf(std::string_view text, uint32_t size) {
  if (text.empty() || text.size() > 4) {
    return std::nullopt;
  }
  for (const std::string_view set : {"xyzw", "rgba"}) {
    Letters letters;
    for (const char letter : text) {
      const size_t index = set.find(letter);
      if (index == std::string_view::npos || index >= size) {
        break;
      }
      letters.index[letters.count++] = static_cast<uint8_t>(index);
    }
    if (letters.count == text.size()) {
      return letters;
    }
  }
  return std::nullopt;
}

// "_m00_m11", "_11_22": row and column in four bits each, within the size.
// Elements of a matrix, counted from zero (`_m00`) or from one (`_11`), all in one way. A row
// and a column fit in two bits each.
std::optional<std::vector<uint8_t>> ElementsOf(std::string_view text, uint32_t rows,
                                               uint32_t columns) {
  std::vector<uint8_t> elements;
  const bool from_zero = text.starts_with("_m");
  const size_t step = from_zero ? 4 : 3;
  if (text.empty() || text.size() % step != 0 || text.size() / step > 4) {
    return std::nullopt;
  }
  const char first = from_zero ? '0' : '1';
  for (; !text.empty(); text.remove_prefix(step)) {
    const std::string_view digits = text.substr(step - 2, 2);
    if (!text.starts_with(from_zero ? "_m" : "_") || digits[0] < first || digits[1] < first) {
      return std::nullopt;
    }
    const auto row = static_cast<uint32_t>(digits[0] - first);
    const auto column = static_cast<uint32_t>(digits[1] - first);
    if (row >= rows || column >= columns) {
      return std::nullopt;
    }
    elements.push_back(static_cast<uint8_t>(row << 2 | column));
  }
  return elements;
}

// At most four items, so pairs are cheap.
template <class Range>
bool Repeats(const Range& items, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (items[i] == items[k]) {
        return true;
      }
    }
  }
  return false;
}

// What a part has of its whole: it is a place, and may not be written, if the whole is so.
constexpr uint8_t kPlaceBits = Expr::kPlace | Expr::kConst;

// The leaves of a constant base that `leaves` names, as a constant.
ExprId PickLeaves(CheckContext& context, ExprId base, TypeId type,
                  const std::vector<uint32_t>& leaves, TokenRange at) {
  std::vector<Scalar> made;
  for (const uint32_t leaf : leaves) {
    made.push_back(context.unit.ScalarsOf(context.Get(base))[leaf]);
  }
  return MakeConstant(context, type, made, at);
}

// Where the leaves of a part lie in those of a constant. Requires: they are there.
ConstantRow PartAt(CheckContext& context, uint64_t leaf, TypeId type) {
  return {.first = static_cast<uint32_t>(leaf),
          .count = static_cast<uint32_t>(context.types().LeavesOf(type))};
}

ExprId MakeSwizzle(CheckContext& context, ExprId base, const Letters& letters, TokenRange at) {
  const Expr source = context.Get(base);
  const TypeId type = context.types().Vector(context.types()[source.type].item, letters.count);
  if (source.kind == ExprKind::kConstant) {
    return PickLeaves(context, base, type, {letters.index, letters.index + letters.count}, at);
  }
  // A swizzle that names a component twice is a value, since it could not be written.
  const bool place = !Repeats(letters.index, letters.count);
  return Combine(context,
                 {.kind = ExprKind::kSwizzle,
                  .flags = static_cast<uint8_t>(place ? source.flags & kPlaceBits : 0),
                  .type = type,
                  .a = base.value,
                  .b = ir::PackSwizzle(letters.count, letters.index),
                  .at = at},
                 std::span(&base, 1), Knowable::kFixed);
}

// Elements of a shape that is a vector as a value are its components, whatever their names.
ExprId MakeElements(CheckContext& context, ExprId base, const std::vector<uint8_t>& elements,
                    TokenRange at) {
  const Expr source = context.Get(base);
  const Type matrix = context.types()[source.type];
  const TypeId type = context.types().Vector(matrix.item, static_cast<uint32_t>(elements.size()));
  if (ValueForm(matrix) != Form::kMatrix) {  // a vector or scalar by another name
    Letters letters{.count = static_cast<uint32_t>(elements.size())};
    for (size_t i = 0; i < elements.size(); ++i) {
      letters.index[i] =
          static_cast<uint8_t>((elements[i] >> 2) * matrix.columns + (elements[i] & 3));
    }
    return MakeSwizzle(context, base, letters, at);
  }
  if (source.kind == ExprKind::kConstant) {
    std::vector<uint32_t> leaves;
    for (const uint8_t element : elements) {
      leaves.push_back((element >> 2) * uint32_t{matrix.columns} + (element & 3u));
    }
    return PickLeaves(context, base, type, leaves, at);
  }
  const bool place = !Repeats(elements, elements.size());
  return Combine(context,
                 {.kind = ExprKind::kElements,
                  .flags = static_cast<uint8_t>(place ? source.flags & kPlaceBits : 0),
                  .type = type,
                  .a = base.value,
                  .b = PackElements(elements),
                  .at = at},
                 std::span(&base, 1), Knowable::kFixed);
}

// Members in order, counting the leaves before them, by which a constant is cut. A struct has
// at most 4096 members.
ExprId MemberOfStruct(CheckContext& context, ExprId base, uint32_t name, TokenRange at) {
  const Expr source = context.Get(base);
  const Struct& row = context.types().StructOf(source.type);
  const std::string_view text = context.Text(name);
  uint64_t leaf = 0;
  for (uint32_t i = 0; i < row.count; ++i) {
    const Member member = context.types().MemberOf(source.type, i);
    if (member.name != text) {
      leaf += context.types().LeavesOf(member.type);
      continue;
    }
    context.NoteMention(name, member.token);
    if (source.kind == ExprKind::kConstant) {
      return MakePart(context, base, member.type, PartAt(context, leaf, member.type), at);
    }
    return Combine(context,
                   {.kind = ExprKind::kMember,
                    .flags = static_cast<uint8_t>(source.flags & kPlaceBits),
                    .type = member.type,
                    .a = base.value,
                    .b = i,
                    .at = at},
                   std::span(&base, 1), Knowable::kFixed);
  }
  context.Say(context.At(Code::kHlsl2005, name)
                  .With("type", context.types().Text(source.type))
                  .With("name", text));
  return context.Failed(at);
}

// What an index picks: the type of a part and how many there are; 0: an unknown number.
// Of arrays their items, of vectors their components, of matrices their rows.
struct Parts {
  TypeId type;
  uint32_t count = 0;
  bool whole = false;  // a dimension of size 1: the part is the whole
};
std::optional<Parts> PartsOf(Types& types, TypeId id) {
  const Type type = types[id];
  if (type.kind == TypeKind::kArray) {
    return Parts{types.ElementOf(id), type.extent};
  }
  if (type.kind != TypeKind::kNumeric || type.form == Form::kScalar) {
    return std::nullopt;
  }
  // spec/hlsl 6.2 and 11: a dimension of size 1 is indexed like any other, and the index
  // changes nothing.
  if (type.form == Form::kVector) {
    return Parts{types.Scalar(type.item), type.columns, type.columns == 1};
  }
  // A row of one column is still a vector in its name: `m[i][0]`.
  const TypeId row =
      type.columns == 1 ? types.VectorOfOne(type.item) : types.Vector(type.item, type.columns);
  return Parts{row, type.rows, type.rows == 1};
}

// Whether an index was marked by NonUniformResourceIndex, in it or in what it is a sum of.
// Right operands recurse, left ones are a loop: chains of sums bind to the left.
bool IsNonUniform(const CheckContext& context, ExprId index) {
  while (true) {
    const Expr& expr = context.Get(index);
    if (expr.kind == ExprKind::kIntrinsic) {
      return static_cast<Intrinsic>(expr.op) == Intrinsic::kNonUniformResourceIndex;
    }
    if (expr.kind == ExprKind::kBinary && IsNonUniform(context, ExprId{expr.b})) {
      return true;
    }
    if (expr.kind != ExprKind::kConvert && expr.kind != ExprKind::kBinary &&
        expr.kind != ExprKind::kSplat && expr.kind != ExprKind::kTruncate) {
      return false;
    }
    index = ExprId{expr.a};
  }
}

}  // namespace

// `s.member`, `v.xyz`, `m._m00`, and `t.mips` of a texture. A block stands for what it
// contains.
ExprId MakeMember(CheckContext& context, ExprId base, uint32_t name, TokenRange at) {
  if (context.Get(base).kind == ExprKind::kFailed) {
    return context.Failed(at);
  }
  base = Natural(context, base);
  if (IsBlock(context.types(), context.TypeOf(base))) {
    base = ContentOf(context, base);
  }
  const Type type = context.types()[context.TypeOf(base)];
  if (type.kind == TypeKind::kFailed) {
    return context.Failed(at);
  }
  if (type.kind == TypeKind::kObject) {
    if (const ExprId levels = MakeLevels(context, base, name, at); levels.valid()) {
      return levels;
    }
  }
  if (type.kind == TypeKind::kStruct) {
    return MemberOfStruct(context, base, name, at);
  }
  const std::string_view text = context.Text(name);
  if (type.kind == TypeKind::kNumeric) {
    if (type.form == Form::kMatrix) {
      if (const auto elements = ElementsOf(text, type.rows, type.columns)) {
        return MakeElements(context, base, *elements, at);
      }
    } else if (const std::optional<Letters> letters = SwizzleOf(text, CountOf(type))) {
      return MakeSwizzle(context, base, *letters, at);
    }
    context.Say(
        context.At(Code::kHlsl2006, name).With("text", text).With("type", context.TypeText(base)));
    return context.Failed(at);
  }
  context.Say(
      context.At(Code::kHlsl2005, name).With("type", context.TypeText(base)).With("name", text));
  return context.Failed(at);
}

// spec/hlsl 11: the index converts to uint, so one below zero is far out of range.
ExprId MakeIndex(CheckContext& context, ExprId base, ExprId index, TokenRange at) {
  if (context.Get(base).kind == ExprKind::kFailed || context.Get(index).kind == ExprKind::kFailed) {
    return context.Failed(at);
  }
  const Expr source = context.Get(base);
  const std::optional<Parts> parts = PartsOf(context.types(), source.type);
  if (!parts) {
    context.Say(context.At(Code::kHlsl2034, source.at)
                    .With("text", context.Text(source.at))
                    .With("type", context.types().Text(source.type)));
    return context.Failed(at);
  }
  const ExprId number = ConvertTo(context, index, context.types().Scalar(Item::kUint),
                                  ConversionUse::kImplicit, context.Get(index).at);
  if (context.Get(number).kind == ExprKind::kFailed) {
    return context.Failed(at);
  }
  const std::optional<Scalar> known = ScalarOf(context, number);
  // HLSL2033 shows the number as it was written, not as uint.
  if (known && parts->count != 0 && known->bits >= parts->count) {
    context.Say(context.At(Code::kHlsl2033, context.Get(index).at)
                    .With("value", TextOf(*ScalarOf(context, Natural(context, index))))
                    .With("type", context.types().Text(source.type)));
    return context.Failed(at);
  }
  // An index with an effect is evaluated although it picks the whole.
  if (parts->whole && !context.Get(number).Is(Expr::kEffect)) {
    Expr same = source;  // the same storage under the name of the part
    same.type = parts->type;
    same.at = at;
    return context.Add(same);
  }
  // An item of a constant is one; its leaves lie one behind another.
  if (known && source.kind == ExprKind::kConstant) {
    const uint64_t first = known->bits * context.types().LeavesOf(parts->type);
    return MakePart(context, base, parts->type, PartAt(context, first, parts->type), at);
  }
  // A swizzle or a texel has no storage that a number could pick from.
  const bool picked = source.kind == ExprKind::kSwizzle || source.kind == ExprKind::kElements ||
                      source.kind == ExprKind::kMethod;
  const ExprId both[] = {base, number};
  return Combine(context,
                 {.kind = ExprKind::kIndex,
                  .flags = static_cast<uint8_t>(picked && !known ? 0 : source.flags & kPlaceBits),
                  .op = static_cast<uint8_t>(IsNonUniform(context, index) ? 1 : 0),
                  .type = parts->type,
                  .a = base.value,
                  .b = number.value,
                  .at = at},
                 both, Knowable::kFixed);
}

// The variable, parameter or resource that a place is part of.
ExprId RootOf(const CheckContext& context, ExprId place) {
  while (true) {
    const Expr& expr = context.Get(place);
    const bool texel = expr.kind == ExprKind::kMethod && expr.Is(Expr::kPlace);
    if (expr.kind == ExprKind::kComma) {
      place = ExprId{expr.b};
      continue;
    }
    if (expr.kind != ExprKind::kSwizzle && expr.kind != ExprKind::kElements &&
        expr.kind != ExprKind::kMember && expr.kind != ExprKind::kIndex && !texel) {
      return place;
    }
    place = ExprId{expr.a};
  }
}

// The component that stands twice in the text of a swizzle: its letter, or `_m01` of a matrix.
// Requires: one does.
std::string_view RepeatedOf(const Expr& expr, std::string_view text) {
  const bool swizzle = expr.kind == ExprKind::kSwizzle;
  const uint32_t count = swizzle ? ir::SwizzleCount(expr.b) : ElementCount(expr.b);
  const auto number = [&](uint32_t i) {
    return swizzle ? ir::SwizzleLetter(expr.b, i)
                   : ElementRow(expr.b, i) << 2 | ElementColumn(expr.b, i);
  };
  const size_t step =
      text.size() / count;  // of elements of a vector by their names in a matrix, too
  for (uint32_t i = 1; i < count; ++i) {
    for (uint32_t k = 0; k < i; ++k) {
      if (number(i) == number(k)) {
        return text.substr(i * step, step);
      }
    }
  }
  return text;
}

// Marks the root as written, which decides how parameters are passed (spec/hlsl 13.2). Three
// reasons why something cannot be written: it is constant, a value, or a swizzle that names a
// component twice.
bool CheckWritable(CheckContext& context, ExprId place) {
  const Expr expr = context.Get(place);
  if (expr.kind == ExprKind::kFailed) {
    return false;
  }
  const bool is_place = expr.Is(Expr::kPlace);
  if (is_place && !expr.Is(Expr::kConst)) {
    const Expr& root = context.Get(RootOf(context, place));
    if (root.kind == ExprKind::kLocal) {
      context.unit[LocalId{root.a}].written = true;
    } else if (root.kind == ExprKind::kGlobal) {
      context.unit[GlobalId{root.a}].written = true;
    }
    return true;
  }
  if (!is_place && (expr.kind == ExprKind::kSwizzle || expr.kind == ExprKind::kElements) &&
      context.Get(ExprId{expr.a}).Is(Expr::kPlace)) {
    const std::string_view text = context.Text(expr.at.end - 1);
    context.Say(context.At(Code::kHlsl2009, expr.at.end - 1)
                    .With("text", text)
                    .With("letter", RepeatedOf(expr, text)));
    return false;
  }
  context.Say(context.At(Code::kHlsl2018, expr.at)
                  .With("text", context.Text(expr.at))
                  .With("reason", is_place ? "constant" : "a value"));
  return false;
}

// Stands for a value that the row around it computes once, so that a conversion may be built
// over it.
ExprId MakeGiven(CheckContext& context, TypeId type, uint32_t number, TokenRange at) {
  return context.Add({.kind = ExprKind::kGiven, .type = type, .a = number, .at = at});
}

// spec/hlsl 10.2: the value converts to the type of the place; the place is the result.
ExprId MakeAssign(CheckContext& context, ExprId place, ExprId value, TokenRange at) {
  if (context.Get(value).kind == ExprKind::kFailed || !CheckWritable(context, place)) {
    return context.Failed(at);
  }
  const Expr target = context.Get(place);
  const ExprId converted =
      ConvertTo(context, value, target.type, ConversionUse::kImplicit, context.Get(value).at);
  const ExprId both[] = {place, converted};
  return Combine(context,
                 {.kind = ExprKind::kAssign,
                  .flags = Expr::kPlace | Expr::kEffect,
                  .type = target.type,
                  .a = place.value,
                  .b = converted.value,
                  .at = at},
                 both, Knowable::kNo);
}

// `a op= b` is the operation over the old value of the place, converted back. A right side that
// is constant stays one, so that it folds and a division by zero is warned about.
ExprId MakeUpdate(CheckContext& context, Operator op, ExprId place, ExprId right, uint32_t token,
                  TokenRange at) {
  if (context.Get(right).kind == ExprKind::kFailed || !CheckWritable(context, place)) {
    return context.Failed(at);
  }
  const TypeId type = context.TypeOf(place);
  const TokenRange right_at = context.Get(right).at;
  const bool constant = context.Get(right).kind == ExprKind::kConstant;
  const ExprId used = constant ? right : MakeGiven(context, context.TypeOf(right), 1, right_at);
  const ExprId old = MakeGiven(context, type, 0, context.Get(place).at);
  const ExprId result = MakeBinary(context, op, old, used, token, at);
  const ExprId value = ConvertTo(context, result, type, ConversionUse::kImplicit, at);
  const ExprId all[] = {place, right, value};
  return Combine(context,
                 {.kind = ExprKind::kUpdate,
                  .flags = Expr::kPlace | Expr::kEffect,
                  .type = type,
                  .a = place.value,
                  .b = value.value,
                  .c = constant ? kNoRow : right.value,
                  .at = at},
                 all, Knowable::kNo);
}

// `++` and `--` are updates by a literal 1, which takes the item of the place. A postfix one
// gives the old value and is no place.
ExprId MakeStep(CheckContext& context, Operator op, ExprId place, Position position, uint32_t token,
                TokenRange at) {
  const bool number = context.types().IsNumeric(context.TypeOf(place));
  if (context.Get(place).kind == ExprKind::kFailed || !CheckWritable(context, place)) {
    return context.Failed(at);
  }
  if (!number) {
    context.Say(context.At(Code::kHlsl2013, token)
                    .With("op", op == Operator::kAdd ? "++" : "--")
                    .With("left", context.TypeText(place))
                    .With("right", "int"));
    return context.Failed(at);
  }
  const ExprId one = MakeScalar(context, {Item::kLiteralInt, 1}, at);
  const ExprId update = MakeUpdate(context, op, place, one, token, at);
  if (position == Position::kPrefix || context.Get(update).kind == ExprKind::kFailed) {
    return update;
  }
  Expr postfix = context.Get(update);
  postfix.op = 1;
  postfix.flags = Expr::kEffect;
  return context.Add(postfix);
}

}  // namespace kiln::hlsl
