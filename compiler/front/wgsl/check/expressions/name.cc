// SPDX-License-Identifier: MIT
// What a name means, with or without a template list. Names of a source hide predeclared ones,
// so scopes are asked first. A generator without a list (`vec3`, `array`) stays one: only a
// call can give it its type. Types are interned here, so two spellings of one type are one id
// from here on.
#include "compiler/front/wgsl/check/expressions/name.h"

#include <vector>

#include "compiler/front/wgsl/check/expressions/override_form.h"
#include "compiler/front/wgsl/check/expressions/value.h"
#include "compiler/front/wgsl/sema/type_name.h"

namespace kiln::wgsl::front {
namespace {

// A name that is mentioned, with its template arguments, which are checked rows. What it may
// be, in this order: something declared, a type or generator, a function, a word of the
// language.
class Name {
 public:
  Name(CheckContext& context, const syntax::Expr& name, uint32_t row)
      : context_(context), name_(name), row_(row), text_(context.Text(name.token)) {
    for (const uint32_t argument : context.ast.List(syntax::ListId{name.a})) {
      arguments_.push_back(context.rows[argument]);
    }
  }

  ExprId Check() {
    if (const Meaning* meaning = context_.scopes.Find(text_)) {
      return Declared(*meaning);
    }
    if (const std::optional<TypeName> type = FindTypeName(text_)) {
      return Typed(*type);
    }
    if (const std::optional<front::Function> function = FindFunction(text_)) {
      return context_.Add({.kind = ExprKind::kPredeclared,
                           .op = static_cast<uint8_t>(*function),
                           .a = row_,
                           .at = name_.at});
    }
    if (IsTypeWord(text_) && arguments_.empty()) {
      return context_.Add({.kind = ExprKind::kWord, .at = name_.at});
    }
    context_.Say(context_.At(Code::kWgsl2005, name_.token).With("name", text_));
    return Failed();
  }

 private:
  ExprId Failed() { return context_.Failed(name_.at); }
  ExprId Type(TypeId type) {
    return context_.Add({.kind = ExprKind::kType, .type = type, .at = name_.at});
  }
  ExprId Forbidden(std::string_view reason) {
    context_.Forbid(name_.at, reason);
    return Failed();
  }

  ExprId Declared(const Meaning& meaning) {
    context_.NoteMention(name_.token, meaning.token);
    Expr value = meaning.value;
    if (value.kind == ExprKind::kFailed) {
      return Failed();
    }
    if (!arguments_.empty()) {
      return Forbidden("it takes no template arguments");
    }
    // WGSL, "Continue Statement": where control jumps over a declaration it has no value.
    if (context_.skipped.Contains(meaning.token)) {
      return Forbidden("a 'continue' before its declaration leads here");
    }
    if (value.kind == ExprKind::kLocal && context_.in_continuing != 0) {
      context_.unit.locals[value.a].in_continuing = true;
    }
    if (value.kind == ExprKind::kConstant && !context_.SpendParts(value.type, name_.at)) {
      return Failed();
    }
    value.at = name_.at;
    // The mention is kept at the function that has it: with calls it says what an entry point
    // reaches.
    if (value.kind == ExprKind::kGlobal && context_.function.valid()) {
      const uint64_t key = uint64_t{context_.function.value} << 32 | value.a;
      if (context_.mentioned.Insert(key, true).second) {
        context_.Function().globals.push_back(GlobalId{value.a});
      }
    }
    return context_.Add(value);
  }

  // A generator without arguments is not an error yet: `vec3(1, 2, 3)` is a call of one.
  ExprId Typed(const TypeName& found) {
    // vec3h needs the extension as f16 does. A generator gets its scalar later, and `f16` is
    // asked for then.
    const bool half = found.type.kind <= TypeKind::kMatrix && !found.needs_scalar &&
                      found.type.scalar == ScalarKind::kF16;
    if (half && !context_.has_f16) {
      return Forbidden("it needs 'enable f16;'");
    }
    if (arguments_.empty()) {
      if (found.needs_arguments) {
        return context_.Add({.kind = ExprKind::kGenerator, .a = row_, .at = name_.at});
      }
      return Type(context_.types().Intern(found.type));
    }
    if (!found.needs_arguments) {
      return Forbidden("it takes no template arguments");
    }
    switch (found.type.kind) {
      case TypeKind::kArray:
        return Array();
      case TypeKind::kPointer:
        return Pointer();
      case TypeKind::kTexture:
        return found.needs_scalar ? WithScalar(found) : StorageTexture(found);
      default:
        return WithScalar(found);
    }
  }

  // The text of the message says one number or both.
  bool HasCount(size_t least, size_t most) {
    if (arguments_.size() >= least && arguments_.size() <= most) {
      return true;
    }
    Forbidden(least == most ? "it takes " + std::to_string(least) + " template arguments"
                            : "it takes " + std::to_string(least) + " or " + std::to_string(most) +
                                  " template arguments");
    return false;
  }

  // Says what is wrong if an argument is no type.
  TypeId TypeAt(size_t i) {
    const Expr& argument = context_.Get(arguments_[i]);
    if (argument.kind != ExprKind::kType) {
      context_.Mismatch(argument.at, "type", context_.FoundText(arguments_[i]));
      return {};
    }
    return argument.type;
  }
  std::string_view WordAt(size_t i) const {
    const Expr& argument = context_.Get(arguments_[i]);
    return argument.kind == ExprKind::kWord ? context_.Text(argument.at.begin) : std::string_view{};
  }
  ExprId Unknown(size_t i, std::string_view kind) {
    const TokenRange at = context_.Get(arguments_[i]).at;
    context_.Say(
        context_.At(Code::kWgsl1005, at).With("kind", kind).With("name", context_.Text(at)));
    return Failed();
  }

  // Vectors of any scalar, matrices of floats, atomics of words, sampled textures of f32, i32
  // or u32.
  ExprId WithScalar(const TypeName& found) {
    if (!HasCount(1, 1)) {
      return Failed();
    }
    const TypeId argument = TypeAt(0);
    if (!argument.valid()) {
      return Failed();
    }
    const front::Type scalar = context_.types()[argument];
    const TypeKind kind = found.type.kind;
    const bool word = scalar.scalar == ScalarKind::kI32 || scalar.scalar == ScalarKind::kU32;
    const bool fits = scalar.kind == TypeKind::kScalar &&
                      (kind == TypeKind::kVector   ? true
                       : kind == TypeKind::kMatrix ? IsFloat(scalar.scalar)
                       : kind == TypeKind::kAtomic ? word
                                                   : word || scalar.scalar == ScalarKind::kF32);
    if (!fits) {
      const std::string_view expected = kind == TypeKind::kVector   ? "scalar type"
                                        : kind == TypeKind::kMatrix ? "f32 or f16"
                                        : kind == TypeKind::kAtomic ? "i32 or u32"
                                                                    : "f32, i32 or u32";
      context_.Mismatch(context_.Get(arguments_[0]).at, expected, context_.types().Text(argument));
      return Failed();
    }
    front::Type type = found.type;
    type.scalar = scalar.scalar;
    return Type(context_.types().Intern(type));
  }

  ExprId Array() {
    if (!HasCount(1, 2)) {
      return Failed();
    }
    const TypeId element = TypeAt(0);
    if (!element.valid()) {
      return Failed();
    }
    // An item has a size that is known here. An array whose size is an override may only be the
    // outermost type of a workgroup variable, so it is no item.
    if (!context_.types().IsFixed(element) || context_.types().HoldsOverride(element)) {
      context_.Mismatch(context_.Get(arguments_[0]).at, "type whose size is known",
                        context_.types().Text(element));
      return Failed();
    }
    // Walks over types recurse down to their scalars, so depth has a limit where types are
    // made.
    if (context_.types().DepthOf(element) >= context_.limits.nesting) {
      context_.Say(context_.At(Code::kWgsl1007, name_.at)
                       .With("what", "nesting of types")
                       .With("limit", context_.limits.nesting));
      return Failed();
    }
    if (arguments_.size() == 1) {
      return Type(context_.types().Array(element, 0));
    }
    const ExprId count = Concrete(context_, arguments_[1]);
    if (context_.IsFailed(count)) {
      return Failed();
    }
    const Expr expr = context_.Get(count);
    const front::Type type = context_.types()[expr.type];
    if (type.kind != TypeKind::kScalar || !IsInteger(type.scalar)) {
      context_.Mismatch(expr.at, "i32 or u32", context_.types().Text(expr.type));
      return Failed();
    }
    // A size may be known only with overrides; then the type is told apart by the expression
    // that says it.
    if (expr.rate == Rate::kRun) {
      context_.Say(context_.At(Code::kWgsl3003, expr.at).With("stage", "known with overrides"));
      return Failed();
    }
    // Sizes that are the same override are one type (WGSL, "Fixed-size array type"); two
    // expressions that are equal otherwise are two types.
    if (expr.rate == Rate::kOverride) {
      if (!IsCexpr(context_.unit, count)) {
        context_.Refuse(expr.at, "sizes of arrays have no such values yet");
        return Failed();
      }
      // Two arrays are one type if one override says how long they are.
      const uint32_t open = count.value;
      const uint32_t known = expr.kind == ExprKind::kOverride ? FirstOf(expr.a, open) : open;
      return Type(context_.types().Array(element, 0, known));
    }
    // 2^31 - 1 items: what is larger has no index of type i32.
    const int64_t number = *WholeOf(context_, count);
    if (number <= 0 || number > 0x7fffffff) {
      context_.Say(context_.At(Code::kWgsl3002, expr.at)
                       .With("value", number)
                       .With("type", "size of an array"));
      return Failed();
    }
    return Type(context_.types().Array(element, static_cast<uint32_t>(number)));
  }

  // The first expression that was only this override.
  uint32_t FirstOf(uint32_t global, uint32_t row) {
    return *context_.override_counts.Insert(global, row).first;
  }

  // `ptr<space, type [, access]>`. What it points to must be storable there.
  ExprId Pointer() {
    if (!HasCount(2, 3)) {
      return Failed();
    }
    const std::optional<AddressSpace> space = FindAddressSpace(WordAt(0));
    if (!space.has_value()) {
      return Unknown(0, "address space");
    }
    const TypeId to = TypeAt(1);
    if (!to.valid()) {
      return Failed();
    }
    if (!context_.types().IsPlain(to) ||
        (*space != AddressSpace::kStorage && !context_.types().IsFixed(to))) {
      context_.Say(context_.At(Code::kWgsl2006, name_.at)
                       .With("type", context_.types().Text(to))
                       .With("space", TextOf(*space)));
      return Failed();
    }
    // The access that is not written is that of variables of the space.
    AccessMode access = *space == AddressSpace::kStorage || *space == AddressSpace::kUniform
                            ? AccessMode::kRead
                            : AccessMode::kReadWrite;
    if (arguments_.size() == 3) {
      const std::optional<AccessMode> written = FindAccessMode(WordAt(2));
      if (!written.has_value()) {
        return Unknown(2, "access mode");
      }
      if (*space != AddressSpace::kStorage) {
        return Forbidden("only pointers to storage have an access mode");
      }
      access = *written;
    }
    return Type(context_.types().Pointer(to, *space, access));
  }

  // A storage texture: its format gives the type of its texels.
  ExprId StorageTexture(const TypeName& found) {
    if (!HasCount(2, 2)) {
      return Failed();
    }
    const TexelFormat* format = FindTexelFormat(WordAt(0));
    if (format == nullptr) {
      if (WordAt(0) == "bgra8unorm") {
        context_.Refuse(context_.Get(arguments_[0]).at, "no format of Vulkan is it");
        return Failed();
      }
      return Unknown(0, "texel format");
    }
    const std::optional<AccessMode> access = FindAccessMode(WordAt(1));
    if (!access.has_value()) {
      return Unknown(1, "access mode");
    }
    if (*access == AccessMode::kReadWrite && !format->read_write) {
      return Forbidden("textures of this format are not read and written");
    }
    front::Type type = found.type;
    type.scalar = format->channel;
    type.format = format->format;
    type.access = *access;
    return Type(context_.types().Intern(type));
  }

  CheckContext& context_;
  const syntax::Expr& name_;
  const uint32_t row_;
  const std::string_view text_;
  std::vector<ExprId> arguments_;
};

}  // namespace

ExprId CheckName(CheckContext& context, const syntax::Expr& name, uint32_t row) {
  return Name(context, name, row).Check();
}

}  // namespace kiln::wgsl::front
