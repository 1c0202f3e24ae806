// SPDX-License-Identifier: MIT
// Types are mapped when somebody first asks for them and kept by id, so each costs one look.
// Constants without structs are rows of the IR, which shares equal ones; a constant with
// structs is built from such rows where it is used.
#include "compiler/front/wgsl/lower/type.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/lower/cexpr.h"
#include "compiler/front/wgsl/lower/interface.h"

namespace kiln::wgsl::front {
namespace {

// The default is two-dimensional.
ir::TypeId ImageOf(LowerContext& context, const Type& type) {
  ir::ImageTraits traits;
  switch (type.dim) {
    case TextureDim::k1d:
      traits.dim = ir::ImageDim::k1d;
      break;
    case TextureDim::k3d:
      traits.dim = ir::ImageDim::k3d;
      break;
    case TextureDim::kCube:
    case TextureDim::kCubeArray:
      traits.dim = ir::ImageDim::kCube;
      break;
    default:
      break;
  }
  traits.arrayed = type.dim == TextureDim::k2dArray || type.dim == TextureDim::kCubeArray;
  traits.depth =
      type.texture == TextureClass::kDepth || type.texture == TextureClass::kDepthMultisampled;
  traits.multisampled = type.texture == TextureClass::kMultisampled ||
                        type.texture == TextureClass::kDepthMultisampled;
  traits.storage = type.texture == TextureClass::kStorage;
  traits.format = type.format;
  return context.builder.Image(ScalarOf(type.scalar), traits);
}

// Leaves of a constant, taken one after another; nothing left is zero.
struct Leaves {
  std::span<const Word> words;
  size_t next = 0;
  bool zero = false;

  uint64_t Take(ScalarKind kind) { return zero ? 0 : BitsOf(kind, words[next++]); }
};

// Constants without structs are rows of the IR and shared. Returns nothing where a struct is
// inside: the first leaf that is one ends it, so little is done in vain.
ir::ConstId RowOf(LowerContext& context, TypeId id, Leaves& leaves) {
  const Type type = context.types[id];
  const ir::TypeId made = TypeOf(context, id);
  std::vector<ir::ConstId> parts;
  switch (type.kind) {
    case TypeKind::kScalar:
    case TypeKind::kAtomic:
      return context.builder.ScalarConst(made, leaves.Take(type.scalar));
    case TypeKind::kVector:
    case TypeKind::kMatrix:
    // Vectors, matrices and arrays all are so many of their element.
    case TypeKind::kArray: {
      const TypeId element = context.types.ElementOf(id);
      const uint32_t count = context.types.CountOf(id);
      // A table is mentioned again and again, so its row is kept.
      const uint32_t first = leaves.zero ? kNoRow
                                         : static_cast<uint32_t>(leaves.words.data() + leaves.next -
                                                                 context.unit.words.data());
      const uint64_t key = uint64_t{id.value} << 32 | first;
      if (const ir::ConstId* known = context.array_rows.Find(key)) {
        leaves.next += context.types.LeavesOf(id);
        return *known;
      }
      for (uint32_t i = 0; i < count; ++i) {
        CheckStop();
        parts.push_back(RowOf(context, element, leaves));
        if (!parts.back().valid()) {
          return {};
        }
      }
      const ir::ConstId row = context.builder.CompositeConst(made, context.builder.Ids(parts));
      if (type.kind == TypeKind::kArray) {
        ChargeMemory(parts.size() * sizeof(ir::ConstId));
        context.array_rows.Insert(key, row);
      }
      return row;
    }
    default:
      return {};
  }
}

// A constant that holds structs is put together from its parts.
// Tries a row first, then parts, each of which may be one. `next` goes back to where the row
// began.
ir::InstId ValueOf(LowerContext& context, TypeId id, Leaves& leaves) {
  const Type type = context.types[id];
  if (type.kind == TypeKind::kScalar && type.scalar == ScalarKind::kBool) {
    return context.Emit(
        ir::FlagInst{TypeOf(context, id), static_cast<uint32_t>(leaves.Take(type.scalar))});
  }
  const size_t first = leaves.next;
  if (const ir::ConstId row = RowOf(context, id, leaves); row.valid()) {
    return context.Emit(ir::ConstInst{TypeOf(context, id), row});
  }
  leaves.next = first;
  std::vector<ir::InstId> parts;
  if (type.kind == TypeKind::kArray) {
    for (uint32_t i = 0; i < type.count; ++i) {
      parts.push_back(ValueOf(context, TypeId{type.element}, leaves));
    }
  } else {
    const std::vector<StructMember> members = context.types.StructOf(id).members;
    for (const StructMember& member : members) {
      parts.push_back(ValueOf(context, member.type, leaves));
    }
  }
  return context.Emit(ir::ConstructInst{TypeOf(context, id), context.builder.Ids(parts)});
}

// Offsets are written for all structs of a module if one of them says @align or @size;
// otherwise the layout of the IR is that of WGSL.
void DeclareStruct(LowerContext& context, StructId id, bool with_offsets) {
  const Struct row = context.types[id];
  std::vector<ir::Member> members;
  // Structs that functions give have no place in the source; their span is that of the first
  // token.
  std::vector<ir::MemberSpans> spans;
  const ir::SpanId span = context.SpanOf({row.token, row.token + 1});
  for (const StructMember& member : row.members) {
    members.push_back(
        {.name = context.builder.Text(member.name), .type = TypeOf(context, member.type)});
    spans.push_back({.name = span, .type = span});
  }
  context.structs[id.value] =
      context.builder.Add({.kind = ir::DeclKind::kStruct, .name = context.builder.Text(row.name)},
                          {.name = span}, members, spans);
  for (const StructMember& member : row.members) {
    const uint32_t number = context.member_count++;
    if (with_offsets) {
      context.builder.Add(ir::Attribute{
          .of_member = 1, .key = ir::AttributeKey::kOffset, .owner = number, .a = member.offset});
    }
    AddInterface(context, member.attributes, true, number);
  }
}

}  // namespace

// Abstract scalars are left in constants that were never made concrete, such as an index.
ir::Scalar ScalarOf(ScalarKind kind) {
  switch (kind) {
    case ScalarKind::kBool:
      return ir::Scalar::kBool;
    case ScalarKind::kU32:
      return ir::Scalar::kU32;
    case ScalarKind::kF16:
      return ir::Scalar::kF16;
    case ScalarKind::kI32:
    case ScalarKind::kAbstractInt:
      return ir::Scalar::kS32;
    case ScalarKind::kF32:
    case ScalarKind::kAbstractFloat:
      return ir::Scalar::kF32;
  }
  KILN_UNREACHABLE();
}

// Types are made when they are first used and kept by id. Recursion is as deep as types are
// nested.
ir::TypeId TypeOf(LowerContext& context, TypeId id) {
  if (context.type_ids.size() <= id.value) {
    context.type_ids.resize(id.value + 1);
  }
  if (context.type_ids[id.value].valid()) {
    return context.type_ids[id.value];
  }
  const Type type = context.types[id];
  ir::TypeId made = context.builder.Void();
  switch (type.kind) {
    case TypeKind::kFailed:
    case TypeKind::kVoid:
      break;
    case TypeKind::kScalar:
    case TypeKind::kVector:
    case TypeKind::kAtomic:
      made = context.Vector(ScalarOf(type.scalar), type.rows);
      break;
    case TypeKind::kMatrix:
      made = context.builder.Matrix(ScalarOf(type.scalar), type.columns, type.rows);
      break;
    // A count is a compile-time expression of the IR, also where it is a number.
    case TypeKind::kArray: {
      const ir::TypeId element = TypeOf(context, TypeId{type.element});
      if (type.open != kNoRow) {
        const ExprId count{type.open};
        made = context.builder.Array(element, context.TypeRowOf(count).scalar == ScalarKind::kU32
                                                  ? CexprOf(context, count)
                                                  : CountOfSigned(context, count));
      } else if (type.count == 0) {
        made = context.builder.RuntimeArray(element);
      } else {
        made = context.builder.Array(element,
                                     context.builder.Literal(ir::ValueKind::kUint, type.count));
      }
      break;
    }
    case TypeKind::kStruct:
      made = context.builder.Intern(
          {.kind = ir::TypeKind::kDeclared, .element = context.structs[type.element].value});
      break;
    // A pointer is passed as what it points to: see Passing.
    case TypeKind::kPointer:
      made = TypeOf(context, TypeId{type.element});
      break;
    case TypeKind::kTexture:
      made = ImageOf(context, type);
      break;
    case TypeKind::kSampler:
      made = context.builder.Sampler();
      break;
  }
  context.type_ids[id.value] = made;
  return made;
}

// Inbuilt ones are results of functions, never memory, and have no offsets.
void DeclareStructs(LowerContext& context) {
  bool written = false;
  for (uint32_t i = 0; i < context.types.struct_count(); ++i) {
    written = written || std::ranges::any_of(context.types[StructId{i}].members,
                                             [](const StructMember& member) {
                                               return member.align != 0 || member.size != 0;
                                             });
  }
  for (uint32_t i = 0; i < context.types.struct_count(); ++i) {
    const bool memory = !context.types[StructId{i}].is_inbuilt;
    DeclareStruct(context, StructId{i}, written && memory);
  }
}

ir::ConstId ConstantRow(LowerContext& context, const Expr& constant) {
  Leaves leaves{.words = context.unit.WordsOf(constant)};
  return RowOf(context, constant.type, leaves);
}

ir::InstId ConstantValue(LowerContext& context, const Expr& constant) {
  Leaves leaves{.words = context.unit.WordsOf(constant)};
  return ValueOf(context, constant.type, leaves);
}

ir::InstId ZeroValue(LowerContext& context, TypeId type) {
  Leaves leaves{.zero = true};
  return ValueOf(context, type, leaves);
}

}  // namespace kiln::wgsl::front
