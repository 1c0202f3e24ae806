// SPDX-License-Identifier: MIT
// Types, structs, constants and attributes. A struct is declared once; it gets attributes of
// memory only if some block or buffer holds it, since offsets mean nothing to a value. Order of
// matrices is decided here and nowhere else: what HLSL calls columns are rows in the IR.
#include "compiler/front/hlsl/lower/type.h"

#include <charconv>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/lower/cexpr.h"
#include "compiler/front/hlsl/lower/handle.h"

namespace kiln::hlsl {
namespace {

// The IR keeps bindings in 32 bits; with a bound on the number a shift cannot overflow.
constexpr uint32_t kMaxRegister = 1u << 24;

void DeclareStruct(LowerContext& context, StructId id);

// Declares what the members of a struct are made of, then the struct. As deep as structs nest.
// Also of blocks: these are declarations with members that are no structs.
ir::DeclId DeclareMembers(LowerContext& context, StructId id, const ir::Decl& decl,
                          const ir::DeclSpans& decl_spans) {
  const Struct& row = context.unit.types[id];
  std::vector<ir::Member> members;
  std::vector<ir::MemberSpans> spans;
  for (uint32_t i = 0; i < row.count; ++i) {
    const Member& member = context.unit.types.MemberOf(id, i);
    TypeId inner = member.type;
    while (context.TypeRow(inner).kind == TypeKind::kArray) {
      inner = context.unit.types.ElementOf(inner);
    }
    if (context.TypeRow(inner).kind == TypeKind::kStruct) {
      DeclareStruct(context, StructId{context.TypeRow(inner).element});
    }
    ir::MemberSpans span{.name = context.SpanOf({member.token, member.token + 1})};
    ir::Member made{.name = context.builder.Text(member.name),
                    .type = TypeOf(context, member.type)};
    if (member.condition != kNoRow) {
      made.condition = CexprOf(context, ExprId{member.condition}, &span.condition);
    }
    members.push_back(made);
    spans.push_back(span);
  }
  const ir::DeclId made = context.builder.Add(decl, decl_spans, members, spans);
  // Attributes count members of the module; those in structs inside were counted before.
  context.structs[id.value] = made;
  for (uint32_t i = 0; i < row.count; ++i) {
    const Member& member = context.unit.types.MemberOf(id, i);
    const AttributesId attributes{member.attributes};
    AddAttributes(context, attributes, true, context.member_count + i);
    if (context.in_memory[id.value]) {
      AddMemoryAttributes(context, member.type, attributes, context.member_count + i);
    }
  }
  context.member_count += row.count;
  return made;
}

// Once for each struct, and not for those that are blocks.
void DeclareStruct(LowerContext& context, StructId id) {
  CheckStop();
  if (context.structs[id.value].valid() || context.block_structs[id.value]) {
    return;
  }
  const Struct& row = context.unit.types[id];
  const std::string_view name = row.name.empty() ? "struct" : row.name;
  DeclareMembers(context, id, {.kind = ir::DeclKind::kStruct, .name = context.builder.Text(name)},
                 {.name = context.SpanOf({row.token, row.token + 1})});
}

// Structs that blocks and buffers hold, and those in them.
// Only these have a form in memory, with offsets and orders of matrices.
void MarkMemory(LowerContext& context, TypeId type) {
  std::vector<TypeId> pending{type};
  while (!pending.empty()) {
    TypeId id = pending.back();
    pending.pop_back();
    while (context.TypeRow(id).kind == TypeKind::kArray) {
      id = context.unit.types.ElementOf(id);
    }
    const Type& row = context.TypeRow(id);
    if (row.kind != TypeKind::kStruct || context.in_memory[row.element]) {
      continue;
    }
    context.in_memory[row.element] = true;
    for (uint32_t i = 0; i < context.unit.types.StructOf(id).count; ++i) {
      pending.push_back(context.unit.types.MemberOf(id, i).type);
    }
  }
}

// Leaves of a constant, taken one after another.
struct Leaves {
  std::span<const Scalar> scalars;
  size_t next = 0;
  const Scalar& Take() { return scalars[next++]; }
};

// Invalid where a struct is met: constants of the IR are numbers, vectors, matrices and arrays.
ir::ConstId RowOf(LowerContext& context, TypeId id, Leaves& leaves) {
  const Type& type = context.TypeRow(id);
  if (type.kind == TypeKind::kEnum ||
      (type.kind == TypeKind::kNumeric && ValueForm(type) == Form::kScalar)) {
    return context.builder.ScalarConst(TypeOf(context, id), BitsOf(leaves.Take()));
  }
  std::vector<ir::ConstId> parts;
  if (type.kind == TypeKind::kNumeric) {
    const ir::TypeId item = context.Vector(ScalarOf(type), 1);
    if (ValueForm(type) == Form::kVector) {
      for (uint32_t i = 0; i < CountOf(type); ++i) {
        // A matrix by rows, each a vector of the IR.
        parts.push_back(context.builder.ScalarConst(item, BitsOf(leaves.Take())));
      }
    } else {
      const ir::TypeId column = context.Vector(ScalarOf(type), type.columns);
      for (uint32_t i = 0; i < type.rows; ++i) {
        std::vector<ir::ConstId> items;
        for (uint32_t k = 0; k < type.columns; ++k) {
          items.push_back(context.builder.ScalarConst(item, BitsOf(leaves.Take())));
        }
        parts.push_back(context.builder.CompositeConst(column, context.builder.Ids(items)));
      }
    }
  } else if (type.kind == TypeKind::kArray) {
    // A table is mentioned again and again, so its row is kept.
    const Scalar* const first = leaves.scalars.data() + leaves.next;
    const uint64_t key =
        uint64_t{id.value} << 32 | static_cast<uint32_t>(first - context.unit.scalars.data());
    if (const ir::ConstId* known = context.constant_rows.Find(key)) {
      leaves.next += context.unit.types.LeavesOf(id);
      return *known;
    }
    for (uint32_t i = 0; i < type.extent; ++i) {
      CheckStop();
      const ir::ConstId part = RowOf(context, context.unit.types.ElementOf(id), leaves);
      if (!part.valid()) {
        return {};
      }
      parts.push_back(part);
    }
    ChargeMemory(parts.size() * sizeof(ir::ConstId));
    const ir::ConstId made =
        context.builder.CompositeConst(TypeOf(context, id), context.builder.Ids(parts));
    context.constant_rows.Insert(key, made);
    return made;
  } else {
    return {};
  }
  return context.builder.CompositeConst(TypeOf(context, id), context.builder.Ids(parts));
}

// A constant that holds structs is put together from its parts.
// First as one constant, then part by part.
ir::InstId ValueOf(LowerContext& context, TypeId id, Leaves& leaves) {
  const Type& type = context.TypeRow(id);
  const bool scalar = type.kind == TypeKind::kEnum ||
                      (type.kind == TypeKind::kNumeric && ValueForm(type) == Form::kScalar);
  if (scalar && type.item == Item::kBool) {
    return context.Emit(
        ir::FlagInst{TypeOf(context, id), static_cast<uint32_t>(leaves.Take().bits)});
  }
  const size_t first = leaves.next;
  if (const ir::ConstId row = RowOf(context, id, leaves); row.valid()) {
    return context.Emit(ir::ConstInst{TypeOf(context, id), row});
  }
  leaves.next = first;
  std::vector<ir::InstId> parts;
  if (type.kind == TypeKind::kArray) {
    for (uint32_t i = 0; i < type.extent; ++i) {
      parts.push_back(ValueOf(context, context.unit.types.ElementOf(id), leaves));
    }
  } else {
    for (uint32_t i = 0; i < context.unit.types.StructOf(id).count; ++i) {
      parts.push_back(ValueOf(context, context.unit.types.MemberOf(id, i).type, leaves));
    }
    if (parts.empty()) {  // an empty struct has no parts to be made of
      return context.Emit(
          ir::LoadInst{TypeOf(context, id), context.Emit(ir::TempInst{TypeOf(context, id)})});
    }
  }
  return context.Emit(ir::ConstructInst{TypeOf(context, id), context.builder.Ids(parts)});
}

// A word and a number: semantics, built-ins, registers.
void AddText(LowerContext& context, ir::AttributeKey key, std::string_view text, uint32_t number,
             bool of_member, uint32_t owner) {
  context.builder.Add(ir::Attribute{.of_member = static_cast<uint16_t>(of_member ? 1 : 0),
                                    .key = key,
                                    .owner = owner,
                                    .a = context.builder.Text(text).value,
                                    .b = number});
}

// A register is a binding of the same number, unless its class is shifted or registers mean
// nothing.
// spec/hlsl 16.2. What layouts decide keeps its register; a shifted one becomes a binding,
// since layouts know of no shift.
void AddRegister(LowerContext& context, const Attributes& row, uint32_t owner) {
  const uint32_t space = row.register_space == kNoRow ? 0 : row.register_space;
  const std::string_view name = row.register_name;
  // spec/hlsl 16.1: a space alone is the home set, in which a number is looked for. The sets that
  // have names are flags of the declaration.
  if (name.empty()) {
    const uint32_t home = row.register_space != kNoRow ? row.register_space : row.home_set;
    if (row.binding == kNoRow && home != kNoRow && (home > 3 || row.register_space != kNoRow)) {
      AddText(context, ir::AttributeKey::kRegister, "", home, false, owner);
    }
    return;
  }
  if (context.settings.vulkan_registers == VulkanRegisters::kIgnore) {
    return AddText(context, ir::AttributeKey::kRegister, "", space, false, owner);
  }
  // Classes are written in either case.
  const char register_class = name[0] >= 'a' ? name[0] : static_cast<char>(name[0] - 'A' + 'a');
  const uint32_t shift = ShiftOf(context.settings, register_class, space);
  uint32_t number = 0;
  const auto read = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  // A binding that is written wins over the register.
  if (shift == 0 || row.binding != kNoRow || read.ec != std::errc{} || number > kMaxRegister) {
    return AddText(context, ir::AttributeKey::kRegister, name, space, false, owner);
  }
  context.builder.Add(ir::Attribute{
      .key = ir::AttributeKey::kBinding, .owner = owner, .a = number + shift, .b = space});
}

}  // namespace

// None for items that are not built.
ir::Scalar ScalarOf(const Type& type) { return FactsOf(type.item).scalar; }

ir::CexprId ExtentOf(LowerContext& context, const Type& array) {
  return array.open == kNoRow ? context.builder.Literal(ir::ValueKind::kUint, array.extent)
                              : CexprOf(context, ExprId{array.open}, nullptr);
}

// Types are made when they are first used. Structs are declared before, so their ids are there.
ir::TypeId TypeOf(LowerContext& context, TypeId id) {
  if (context.types.size() <= id.value) {
    context.types.resize(id.value + 1);
  }
  if (context.types[id.value].valid()) {
    return context.types[id.value];
  }
  const Type& type = context.TypeRow(id);
  ir::TypeId made = context.builder.Void();
  switch (type.kind) {
    case TypeKind::kNumeric:
      made = ValueForm(type) == Form::kMatrix
                 ? context.builder.Matrix(ScalarOf(type), type.rows, type.columns)
                 : context.Vector(ScalarOf(type), CountOf(type));
      break;
    case TypeKind::kEnum:
      made = context.Vector(ScalarOf(type), 1);
      break;
    case TypeKind::kStruct:
      made = context.builder.Intern(
          {.kind = ir::TypeKind::kDeclared, .element = context.structs[type.element].value});
      break;
    case TypeKind::kArray: {
      const ir::TypeId element = TypeOf(context, context.unit.types.ElementOf(id));
      made = context.builder.Array(element, ExtentOf(context, type));
      break;
    }
    case TypeKind::kVoid:
      break;
    case TypeKind::kFailed:
    case TypeKind::kString:
    case TypeKind::kObject:
      KILN_CHECK(false, "a type without values");
  }
  context.types[id.value] = made;
  return made;
}

// Marks first, then structs: what is in memory must be known when members are declared.
void DeclareStructs(LowerContext& context) {
  context.structs.resize(context.unit.types.struct_count());
  context.in_memory.resize(context.unit.types.struct_count());
  context.block_structs.resize(context.unit.types.struct_count());
  for (const Global& global : context.unit.globals) {
    const Type* object = ObjectOf(context, global.type);
    if (object != nullptr) {
      MarkMemory(context, TypeId{object->element});
    } else if (global.kind == GlobalKind::kBlock || global.kind == GlobalKind::kLoose) {
      MarkMemory(context, global.type);
    }
    if (global.kind == GlobalKind::kBlock && global.fields) {
      context.block_structs[context.TypeRow(global.type).element] = true;
    }
  }
  for (uint32_t i = 0; i < context.unit.types.struct_count(); ++i) {
    DeclareStruct(context, StructId{i});
  }
}

// The buffer itself is the struct of its fields.
ir::DeclId DeclareFields(LowerContext& context, StructId id, const ir::Decl& decl,
                         const ir::DeclSpans& spans) {
  return DeclareMembers(context, id, decl, spans);
}

// spec/hlsl 6.3: the matrix is transposed in the IR, so HLSL's column order is RowMajor there.
bool StoresColumns(const LowerContext& context, TypeId type, AttributesId attributes) {
  while (context.TypeRow(type).kind == TypeKind::kArray) {
    type = context.unit.types.ElementOf(type);
  }
  const Type& row = context.TypeRow(type);
  if (row.kind != TypeKind::kNumeric || ValueForm(row) != Form::kMatrix) {
    return false;
  }
  const Attributes* written =
      attributes.valid() ? &context.unit.attributes[attributes.value] : nullptr;
  const bool rows = written != nullptr && written->row_major;
  const bool columns = written != nullptr && written->column_major;
  return columns || (!rows && !context.row_major);
}

// An offset that is written, and the order of a matrix.
void AddMemoryAttributes(LowerContext& context, TypeId type, AttributesId attributes,
                         uint32_t member) {
  if (attributes.valid() && context.unit.attributes[attributes.value].offset != kNoRow) {
    context.builder.Add(ir::Attribute{.of_member = 1,
                                      .key = ir::AttributeKey::kOffset,
                                      .owner = member,
                                      .a = context.unit.attributes[attributes.value].offset});
  }
  if (StoresColumns(context, type, attributes)) {
    context.builder.Add(
        ir::Attribute{.of_member = 1, .key = ir::AttributeKey::kRowMajor, .owner = member});
  }
}

// Invalid if the constant holds a struct.
ir::ConstId ConstantRowOf(LowerContext& context, const Expr& constant) {
  Leaves leaves{context.unit.ScalarsOf(constant)};
  return RowOf(context, constant.type, leaves);
}

// As instructions where it holds structs.
ir::InstId ConstantValue(LowerContext& context, const Expr& constant) {
  Leaves leaves{context.unit.ScalarsOf(constant)};
  return ValueOf(context, constant.type, leaves);
}

// Those for interfaces and bindings. Bindings belong to declarations, locations to members as
// well.
void AddAttributes(LowerContext& context, AttributesId id, bool of_member, uint32_t owner) {
  if (!id.valid()) {
    return;
  }
  const Attributes& row = context.unit.attributes[id.value];
  const ir::Builder::AttributeOwner to{.is_member = of_member, .row = owner};
  if (!row.semantic.empty()) {
    AddText(context, ir::AttributeKey::kSemantic, row.semantic, row.semantic_index, of_member,
            owner);
  }
  if (!row.builtin.empty()) {
    AddText(context, ir::AttributeKey::kBuiltin, row.builtin, 0, of_member, owner);
  }
  if (!of_member) {
    AddRegister(context, row, owner);
  }
  if (!row.source.empty()) {
    AddText(context, ir::AttributeKey::kSource, row.source, 0, of_member, owner);
  }
  if (!of_member) {
    context.builder.AddIfSaid(to, ir::AttributeKey::kBinding, row.binding,
                              row.set == kNoRow ? 0 : row.set);
    context.builder.AddIfSaid(to, ir::AttributeKey::kCounter, row.counter);
  }
  context.builder.AddIfSaid(to, ir::AttributeKey::kLocation, row.location);
  context.builder.AddIfSaid(to, ir::AttributeKey::kIndex, row.index);
  context.builder.AddIfSaid(to, ir::AttributeKey::kInterpolation, row.interpolation);
  if (row.instance_rate) {
    context.builder.AddIfSaid(to, ir::AttributeKey::kRate,
                              static_cast<uint32_t>(ir::Rate::kInstance));
  }
}

}  // namespace kiln::hlsl
