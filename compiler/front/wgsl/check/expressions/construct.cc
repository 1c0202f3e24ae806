// SPDX-License-Identifier: MIT
// One class for all constructors: it holds the arguments as values and is asked for a type,
// which is either written or inferred from them. Constants among the arguments make a constant,
// leaf by leaf, so an array of constants costs its leaves and no rows. Conversions are implicit
// here except where one value of one shape is converted as a whole.
#include "compiler/front/wgsl/check/expressions/construct.h"

#include <algorithm>
#include <vector>

#include "compiler/front/wgsl/check/expressions/operation.h"
#include "compiler/front/wgsl/check/expressions/value.h"
#include "compiler/front/wgsl/sema/overload.h"
#include "compiler/front/wgsl/sema/type_name.h"

namespace kiln::wgsl::front {
namespace {

// Constructors of values, WGSL, "Value Constructor Built-in Functions". Arguments are values
// when this begins, so places were loaded once, from left to right.
class Constructor {
 public:
  Constructor(CheckContext& context, std::span<const ExprId> arguments, TokenRange at)
      : context_(context), at_(at) {
    for (const ExprId id : arguments) {
      values_.push_back(ValueOf(context, id));
      failed_ = failed_ || context.IsFailed(values_.back());
    }
  }

  ExprId Of(TypeId id) {
    if (failed_) {
      return context_.Failed(at_);
    }
    const Type type = context_.types()[id];
    if (!context_.types().IsConstructible(id)) {
      context_.Mismatch(at_, "type of values", context_.types().Text(id));
      return context_.Failed(at_);
    }
    // Without arguments it is the zero value.
    if (values_.empty()) {
      return Zero(context_, id, at_);
    }
    switch (type.kind) {
      case TypeKind::kScalar:
        return OneScalar(id, type);
      case TypeKind::kVector:
        return Vector(id, type);
      case TypeKind::kMatrix:
        return Matrix(id, type);
      case TypeKind::kArray:
        // The list of types has at most as many rows as there are arguments: a count of a
        // million makes none.
        return Parts(id, std::vector<TypeId>(Fits(type.count), TypeId{type.element}), type.count);
      default:
        break;
    }
    std::vector<TypeId> members;
    for (const StructMember& member : context_.types().StructOf(id).members) {
      members.push_back(member.type);
    }
    return Parts(id, members, members.size());
  }

  // vecN, matCxR and array, whose scalar the arguments decide.
  // The scalar is that to which all arguments convert. Where it stays abstract, the result is
  // abstract only if it is constant.
  ExprId Inferred(const TypeName& name) {
    if (failed_) {
      return context_.Failed(at_);
    }
    if (name.type.kind == TypeKind::kArray) {
      return InferredArray();
    }
    std::optional<ScalarKind> common;
    for (const ExprId id : values_) {
      const Type& type = context_.TypeRowOf(id);
      if (type.kind < TypeKind::kScalar || type.kind > TypeKind::kMatrix) {
        return NoOverload(name.type.kind == TypeKind::kVector ? "vec" : "mat");
      }
      common = Common(common.value_or(type.scalar), type.scalar);
      if (!common.has_value()) {
        return NoOverload(name.type.kind == TypeKind::kVector ? "vec" : "mat");
      }
    }
    ScalarKind scalar = common.value_or(ScalarKind::kAbstractInt);
    // Matrices have floats, whatever their arguments are.
    if (name.type.kind == TypeKind::kMatrix && scalar == ScalarKind::kAbstractInt) {
      scalar = ScalarKind::kAbstractFloat;
    }
    if (IsAbstract(scalar) && RateOf(context_, values_) != Rate::kConst) {
      scalar = scalar == ScalarKind::kAbstractInt ? ScalarKind::kI32 : ScalarKind::kF32;
    }
    Type type = name.type;
    type.scalar = scalar;
    return Of(context_.types().Intern(type));
  }

 private:
  // As many as there are values, at most: what is too few or too many is said.
  size_t Fits(uint32_t count) const { return std::min<size_t>(count, values_.size()); }

  ExprId NoOverload(std::string_view name) {
    context_.Say(context_.At(Code::kWgsl2001, at_)
                     .With("name", name)
                     .With("found", TypesText(context_, values_)));
    return context_.Failed(at_);
  }

  // Conversions go one way, so the common scalar of two is one of them.
  static std::optional<ScalarKind> Common(ScalarKind a, ScalarKind b) {
    return RankOf(a, b).has_value()   ? std::optional(b)
           : RankOf(b, a).has_value() ? std::optional(a)
                                      : std::nullopt;
  }

  // Numbers of one shape become those of another scalar.
  // `f32(x)`, `vec3<u32>(v)`: explicit, so every scalar converts to every other.
  ExprId Converts(ExprId id, TypeId to) {
    const Expr expr = context_.Get(id);
    if (expr.type == to) {
      return id;
    }
    const ScalarKind from = context_.types()[expr.type].scalar;
    const ScalarKind kind = context_.types()[to].scalar;
    // What is not known yet is converted when it runs, with the rate of its operand: an
    // override stays one.
    if (expr.kind != ExprKind::kConstant) {
      return context_.Add(
          {.kind = ExprKind::kConvert, .rate = expr.rate, .type = to, .a = id.value, .at = at_});
    }
    std::vector<Word> words;
    for (const Word word : context_.unit.WordsOf(expr)) {
      const ScalarResult folded = ConvertValue(from, kind, word);
      if (!folded.ok()) {
        context_.Say(context_.At(Code::kWgsl3002, at_)
                         .With("value", TextOf(from, word))
                         .With("type", TextOf(kind)));
        return context_.Failed(at_);
      }
      words.push_back(folded.word);
    }
    return context_.AddConstant(to, words, at_);
  }

  // Exactly one argument.
  ExprId OneScalar(TypeId id, const Type& type) {
    if (values_.size() != 1 || context_.TypeRowOf(values_[0]).kind != TypeKind::kScalar) {
      return NoOverload(TextOf(type.scalar));
    }
    return Converts(values_[0], id);
  }

  // One vector of that size converts; one scalar is repeated; else parts fill the vector one
  // behind the other and convert by themselves only.
  ExprId Vector(TypeId id, const Type& type) {
    const std::string name = context_.types().Text(id);
    const TypeId scalar = context_.types().Scalar(type.scalar);
    const Type first = context_.TypeRowOf(values_[0]);
    if (values_.size() == 1 && first.kind == TypeKind::kVector && first.rows == type.rows) {
      return Converts(values_[0], id);
    }
    if (values_.size() == 1 && first.kind == TypeKind::kScalar) {
      return Splat(id, type, scalar);
    }
    uint32_t rows = 0;
    for (ExprId& value : values_) {
      const Type part = context_.TypeRowOf(value);
      const bool fits = (part.kind == TypeKind::kScalar || part.kind == TypeKind::kVector) &&
                        RankOf(part.scalar, type.scalar).has_value();
      if (!fits) {
        return NoOverload(name);
      }
      rows += part.rows;
      value = Converted(context_, value, context_.types().Vector(type.scalar, part.rows));
      if (context_.IsFailed(value)) {
        return value;
      }
    }
    // Counted behind the loop: parts may be too few and too many.
    return rows == type.rows ? Made(id) : NoOverload(name);
  }

  ExprId Splat(TypeId id, const Type& type, TypeId scalar) {
    if (!RankOf(context_.TypeRowOf(values_[0]).scalar, type.scalar).has_value()) {
      return NoOverload(context_.types().Text(id));
    }
    const ExprId value = Converted(context_, values_[0], scalar);
    if (context_.IsFailed(value)) {
      return value;
    }
    const Expr expr = context_.Get(value);
    if (expr.kind == ExprKind::kConstant) {
      const std::vector<Word> words(type.rows, context_.unit.WordsOf(expr)[0]);
      return context_.AddConstant(id, words, at_);
    }
    return context_.Add(
        {.kind = ExprKind::kSplat, .rate = expr.rate, .type = id, .a = value.value, .at = at_});
  }

  // One matrix of that shape converts; else all scalars, column by column, or all columns.
  ExprId Matrix(TypeId id, const Type& type) {
    const Type first = context_.TypeRowOf(values_[0]);
    if (values_.size() == 1 && first.kind == TypeKind::kMatrix && first.rows == type.rows &&
        first.columns == type.columns) {
      return Converts(values_[0], id);
    }
    const bool scalars = first.kind == TypeKind::kScalar;
    const TypeId part = context_.types().Vector(type.scalar, scalars ? 1 : type.rows);
    const size_t count = size_t{type.columns} * (scalars ? type.rows : 1);
    // The types are looked at before the first conversion, so that a wrong count is one error.
    bool fits = values_.size() == count;
    for (size_t i = 0; i < values_.size() && fits; ++i) {
      fits = front::Converts(context_, context_.TypeOf(values_[i]), part);
    }
    if (!fits) {
      return NoOverload(context_.types().Text(id));
    }
    for (ExprId& value : values_) {
      value = Converted(context_, value, part);
      if (context_.IsFailed(value)) {
        return value;
      }
    }
    if (scalars && RateOf(context_, values_) != Rate::kConst) {
      Columns(type);
    }
    return Made(id);
  }

  // Scalars that are known only later are put together to columns first.
  // The IR makes matrices of columns.
  void Columns(const Type& type) {
    const std::vector<ExprId> scalars = std::move(values_);
    const TypeId column = context_.types().Vector(type.scalar, type.rows);
    values_.clear();
    for (uint32_t i = 0; i < type.columns; ++i) {
      Constructor one(context_, std::span(scalars).subspan(size_t{i} * type.rows, type.rows), at_);
      values_.push_back(one.Made(column));
    }
  }

  // Structs and arrays: as many arguments as parts, each converted to its part.
  ExprId Parts(TypeId id, std::span<const TypeId> types, uint64_t count) {
    if (values_.size() != count) {
      context_.Forbid(at_, "'" + context_.types().Text(id) + "' is made of " +
                               std::to_string(count) + " values, not of " +
                               std::to_string(values_.size()));
      return context_.Failed(at_);
    }
    for (size_t i = 0; i < values_.size(); ++i) {
      values_[i] = Converted(context_, values_[i], types[i]);
      if (context_.IsFailed(values_[i])) {
        return values_[i];
      }
    }
    return Made(id);
  }

  // `array(a, b)`: the type to which all convert. What converts to the type found so far keeps
  // it, and a wider one replaces it.
  ExprId InferredArray() {
    if (values_.empty()) {
      context_.Forbid(at_, "an array without items needs its type");
      return context_.Failed(at_);
    }
    TypeId common = context_.TypeOf(values_[0]);
    for (const ExprId id : values_) {
      const TypeId type = context_.TypeOf(id);
      if (front::Converts(context_, common, type)) {
        common = type;
      } else if (!front::Converts(context_, type, common)) {
        return NoOverload("array");
      }
    }
    if (RateOf(context_, values_) != Rate::kConst) {
      common = context_.types().Concrete(common);
    }
    if (!context_.types().IsConstructible(common)) {
      return NoOverload("array");
    }
    return Of(context_.types().Array(common, static_cast<uint32_t>(values_.size())));
  }

  // The values are the parts of it.
  // Constants are put together by their leaves: those of the parts one after another are those
  // of the whole, as matrices are stored by columns.
  ExprId Made(TypeId id) {
    const Rate rate = RateOf(context_, values_);
    if (rate == Rate::kConst) {
      std::vector<Word> words;
      for (const ExprId value : values_) {
        const std::span<const Word> part = context_.unit.WordsOf(context_.Get(value));
        words.insert(words.end(), part.begin(), part.end());
      }
      return context_.AddConstant(id, words, at_);
    }
    std::vector<uint32_t> list;
    for (const ExprId value : values_) {
      list.push_back(value.value);
    }
    return context_.Add({.kind = ExprKind::kConstruct,
                         .rate = rate,
                         .type = id,
                         .b = context_.unit.AddList(list).value,
                         .at = at_});
  }

  CheckContext& context_;
  const TokenRange at_;
  std::vector<ExprId> values_;
  bool failed_ = false;
};

}  // namespace

ExprId Construct(CheckContext& context, TypeId type, std::span<const ExprId> arguments,
                 TokenRange at) {
  return Constructor(context, arguments, at).Of(type);
}

// A generator that is no vector, matrix or array (`ptr`, `atomic`, `texture_2d`) makes no
// values.
ExprId ConstructOf(CheckContext& context, std::string_view name, std::span<const ExprId> arguments,
                   TokenRange at) {
  const std::optional<TypeName> found = FindTypeName(name);
  const bool inferred = found.has_value() && (found->type.kind == TypeKind::kVector ||
                                              found->type.kind == TypeKind::kMatrix ||
                                              found->type.kind == TypeKind::kArray);
  if (!inferred) {
    context.Mismatch(at, "type of values", name);
    return context.Failed(at);
  }
  return Constructor(context, arguments, at).Inferred(*found);
}

}  // namespace kiln::wgsl::front
