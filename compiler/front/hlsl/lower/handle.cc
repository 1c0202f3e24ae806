// SPDX-License-Identifier: MIT
// Resources as the IR has them. Images and samplers are handles, which are places that nobody
// loads; buffers are memory with a struct or an array in it. An array of resources is one
// declaration with a count, and an item of it is picked by an access.
#include "compiler/front/hlsl/lower/handle.h"

#include "compiler/base/check.h"
#include "compiler/front/hlsl/lower/place.h"
#include "compiler/front/hlsl/lower/type.h"
#include "compiler/front/hlsl/lower/value.h"
#include "compiler/front/hlsl/sema/image_format.h"
#include "compiler/front/hlsl/sema/object.h"

namespace kiln::hlsl {
namespace {

// What the item says where nothing is written: 1, 2 or 4 items of 32 bits.
// spec/hlsl 14.2. Three items have no format.
ir::ImageFormat FormatOf(const Type& item) {
  using enum ir::ImageFormat;
  const uint32_t count = CountOf(item);
  if (count == 3) {
    return kUnknown;
  }
  const size_t row = count == 1 ? 0 : count == 2 ? 1 : 2;
  static constexpr ir::ImageFormat kFloats[] = {kR32Float, kRg32Float, kRgba32Float};
  static constexpr ir::ImageFormat kSigned[] = {kR32Sint, kRg32Sint, kRgba32Sint};
  static constexpr ir::ImageFormat kUnsigned[] = {kR32Uint, kRg32Uint, kRgba32Uint};
  return IsFloat(item.item) ? kFloats[row] : IsSigned(item.item) ? kSigned[row] : kUnsigned[row];
}

// The type of one resource; of buffers that of what lies in them.
ir::TypeId ObjectTypeOf(LowerContext& context, const Type& object, const ImageWords& words) {
  const TypeId content{object.element};
  switch (FactsOf(object.object).shape) {
    case ObjectShape::kImage:
      return ImageTypeOf(context, object, words);
    case ObjectShape::kSampler:
      return context.builder.Sampler();
    case ObjectShape::kStructured:
      return context.builder.RuntimeArray(TypeOf(context, content));
    case ObjectShape::kBytes:
      return context.builder.RuntimeArray(context.Vector(ir::Scalar::kU32, 1));
    case ObjectShape::kBlock:
      return TypeOf(context, content);
    case ObjectShape::kOther:
      break;
  }
  KILN_UNREACHABLE();
}

bool IsBuffer(const Type& object) {
  const ObjectShape shape = FactsOf(object.object).shape;
  return shape == ObjectShape::kStructured || shape == ObjectShape::kBytes ||
         shape == ObjectShape::kBlock;
}

}  // namespace

// Null if it is no resource and no array of some.
const Type* ObjectOf(const LowerContext& context, TypeId type) {
  while (context.TypeRow(type).kind == TypeKind::kArray) {
    type = context.unit.types.ElementOf(type);
  }
  const Type& row = context.TypeRow(type);
  return row.kind == TypeKind::kObject ? &row : nullptr;
}

// Facts that a declaration adds: its format, and whether depths are compared.
ImageWords WordsOf(const LowerContext& context, const Global& global) {
  return {.written = global.attributes.valid() ? &context.unit.attributes[global.attributes.value]
                                               : nullptr,
          .compared = global.compared};
}

ImageWords WordsOf(const Local& local) { return {.compared = local.compared}; }

// spec/hlsl 14.2: a writable image has a format, a sampled one needs none. An image is one of
// depths if it is compared with, or said to be.
ir::TypeId ImageTypeOf(LowerContext& context, const Type& object, const ImageWords& words) {
  const ObjectFacts& facts = FactsOf(object.object);
  const Type& item = context.TypeRow(TypeId{object.element});
  const bool said = words.written != nullptr && words.written->depth;
  ir::ImageFormat format = facts.writable ? FormatOf(item) : ir::ImageFormat::kUnknown;
  if (facts.writable && words.written != nullptr && !words.written->image_format.empty()) {
    format = FindImageFormat(words.written->image_format, item.item).value_or(format);
  }
  return context.builder.Image(ScalarOf(item),
                               {.dim = facts.dim,
                                .arrayed = facts.arrayed,
                                .depth = !facts.writable && (words.compared || said),
                                .storage = facts.writable,
                                .format = format,
                                .multisampled = facts.multisampled});
}

// Arrays of resources do not nest.
ir::TypeId HandleTypeOf(LowerContext& context, TypeId type, const ImageWords& words) {
  const Type& row = context.TypeRow(type);
  if (row.kind != TypeKind::kArray) {
    return ObjectTypeOf(context, row, words);
  }
  const ir::TypeId item =
      ObjectTypeOf(context, context.TypeRow(context.unit.types.ElementOf(type)), words);
  return context.builder.Array(item, ExtentOf(context, row));
}

// A handle is a declaration, a parameter, or an item of either. Its place is made where it is
// used, since places are not values.
ir::InstId HandleOf(LowerContext& context, ExprId id) {
  if (IsBuffer(*ObjectOf(context, context.Get(id).type))) {
    return BufferInst(context, id);
  }
  const Expr& expr = context.Get(id);
  if (expr.kind == ExprKind::kIndex) {
    const ExprId array{expr.a};
    const Expr& owner = context.Get(array);
    const ImageWords words = owner.kind == ExprKind::kGlobal
                                 ? WordsOf(context, context.unit.globals[owner.a])
                                 : WordsOf(context.unit.locals[owner.a]);
    const ir::InstId root = HandleOf(context, array);
    const ir::InstId index = ValueOf(context, ExprId{expr.b});
    context.at = expr.at;
    ir::Inst made =
        ir::AccessInst{HandleTypeOf(context, expr.type, words), root, context.builder.Ids({index})}
            .To();
    // Set where NonUniformResourceIndex stands in the index (spec/hlsl 14.4).
    made.flags |= expr.op == 1 ? ir::BitOf(ir::InstFlag::kNonUniform) : uint16_t{0};
    return context.Emit(made);
  }
  if (expr.kind == ExprKind::kLocal) {
    const Local& local = context.unit.locals[expr.a];
    return context.Emit(ir::LocalRefInst{HandleTypeOf(context, local.type, WordsOf(local)),
                                         context.locals[expr.a]});
  }
  KILN_CHECK(expr.kind == ExprKind::kGlobal, "a resource of kind {}",
             static_cast<uint32_t>(expr.kind));
  const Global& global = context.unit.globals[expr.a];
  return context.Emit(
      ir::GlobalRefInst{HandleTypeOf(context, global.type, WordsOf(context, global)),
                        ir::Direction::kNone, context.globals[expr.a], ir::MemberId{}});
}

}  // namespace kiln::hlsl
