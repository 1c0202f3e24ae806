// SPDX-License-Identifier: MIT
// A block is a buffer with fields, so its struct is the buffer itself; a block of a declared struct
// has this as its content. Loose variables are the fields of one buffer, `$Globals`, in their
// order.
#include "compiler/front/hlsl/lower/global.h"

#include <string>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/front/hlsl/lower/cexpr.h"
#include "compiler/front/hlsl/lower/handle.h"
#include "compiler/front/hlsl/lower/image.h"
#include "compiler/front/hlsl/lower/type.h"
#include "compiler/front/hlsl/lower/value.h"
#include "compiler/front/hlsl/sema/object.h"

namespace kiln::hlsl {
namespace {

const Attributes* AttributesOf(const LowerContext& context, AttributesId id) {
  return id.valid() ? &context.unit.attributes[id.value] : nullptr;
}

// The set that a name of kiln::set stands for lies above the low byte; numbers are attributes.
uint16_t FlagsOf(const LowerContext& context, const Global& global, uint32_t low) {
  const Attributes* row = AttributesOf(context, global.attributes);
  const uint32_t set = row == nullptr || row->home_set > 3 ? 0 : row->home_set;
  return static_cast<uint16_t>(low | set << 8);
}

// What a block holds (spec/hlsl 15.1).
// spec/hlsl 15.1: which rules a block has depends on what it holds and on one setting.
enum class BlockRole : uint8_t { kConstants, kTextureBuffer, kStorage, kPush };

ir::RuleSet RulesOf(MemoryLayout layout, BlockRole role) {
  using enum ir::RuleSet;
  switch (layout) {
    case MemoryLayout::kRelaxed:
      return role == BlockRole::kConstants ? kStd140Relaxed : kStd430Relaxed;
    case MemoryLayout::kStd:
      return role == BlockRole::kConstants ? kStd140 : kStd430;
    case MemoryLayout::kDx:
      return role == BlockRole::kConstants || role == BlockRole::kTextureBuffer ? kD3dCbuffer : kC;
    case MemoryLayout::kScalar:
      return kC;
  }
  KILN_UNREACHABLE();
}

// Rules are written down always, so a layout never asks which language a block is of.
void AddRules(LowerContext& context, ir::DeclId block, BlockRole role) {
  context.builder.Add(
      ir::Attribute{.key = ir::AttributeKey::kRules,
                    .owner = block.value,
                    .a = static_cast<uint32_t>(RulesOf(context.settings.layout, role))});
}

struct DeclRow {
  ir::Decl decl;
  ir::DeclSpans spans;
};
// What all declarations begin with: name, condition, spans.
DeclRow RowOf(LowerContext& context, const Global& global, ir::DeclKind kind) {
  DeclRow row{.decl = {.kind = kind, .name = context.builder.Text(global.name)},
              .spans = {.name = context.SpanOf(global.at), .type = context.SpanOf(global.at)}};
  if (global.condition.valid()) {
    row.decl.condition = CexprOf(context, global.condition, &row.spans.condition);
  }
  return row;
}

// A function that gives the first value of a variable, which a compile-time expression cannot say.
// The function is called before the entry point begins, in the order of declarations (spec/hlsl
// 7).
ir::DeclId AddInitial(LowerContext& context, const Global& global) {
  const ir::DeclId function = context.builder.BeginFunction(
      {.kind = ir::DeclKind::kFunction,
       .name = context.builder.Text(global.name + ".initial"),
       .type = TypeOf(context, global.type)},
      {.name = context.SpanOf(global.at), .type = context.SpanOf(global.at)});
  const ir::InstId value = ValueOf(context, global.initialiser);
  context.at = global.at;
  context.Emit(ir::ReturnInst{context.builder.Void(), value});
  context.builder.EndFunction();
  return function;
}

// A compile-time expression if it can be one: then no instruction is needed.
void AddPrivate(LowerContext& context, uint32_t id) {
  const Global& global = context.unit.globals[id];
  DeclRow row = RowOf(context, global, ir::DeclKind::kPrivate);
  row.decl.type = TypeOf(context, global.type);
  if (global.initialiser.valid()) {
    const bool scalar = context.unit.types.IsScalar(global.type);
    if (scalar && context.Get(global.initialiser).rate <= Rate::kOption &&
        context.TypeRow(global.type).item != Item::kDouble) {
      row.decl.body = CexprOf(context, global.initialiser, &row.spans.value).value;
    } else {
      row.decl.aux = AddInitial(context, global).value;
    }
  }
  context.globals[id] = context.builder.Add(row.decl, row.spans);
}

// An initialiser was warned about and is not there (HLSL4036).
void AddShared(LowerContext& context, uint32_t id) {
  const Global& global = context.unit.globals[id];
  DeclRow row = RowOf(context, global, ir::DeclKind::kWorkgroup);
  row.decl.type = TypeOf(context, global.type);
  context.globals[id] = context.builder.Add(row.decl, row.spans);
}

// A `cbuffer` is a buffer that declares its fields; a ConstantBuffer is one of a declared
// struct.
void AddBlock(LowerContext& context, uint32_t id) {
  const Global& global = context.unit.globals[id];
  const Attributes* attributes = AttributesOf(context, global.attributes);
  const bool pushed = attributes != nullptr && attributes->push_constant;
  DeclRow row =
      RowOf(context, global, pushed ? ir::DeclKind::kPushConstant : ir::DeclKind::kBuffer);
  const ir::BufferKind kind =
      global.storage ? ir::BufferKind::kReadOnlyStorage : ir::BufferKind::kUniform;
  if (!pushed) {
    row.decl.flags = FlagsOf(context, global, static_cast<uint32_t>(kind));
  }
  if (global.fields) {
    context.globals[id] =
        DeclareFields(context, StructId{context.TypeRow(global.type).element}, row.decl, row.spans);
  } else {
    row.decl.type = ObjectOf(context, global.type) == nullptr
                        ? TypeOf(context, global.type)
                        : HandleTypeOf(context, global.type, {});
    context.globals[id] = context.builder.Add(row.decl, row.spans);
  }
  AddAttributes(context, global.attributes, false, context.globals[id].value);
  AddRules(context, context.globals[id],
           pushed           ? BlockRole::kPush
           : global.storage ? BlockRole::kTextureBuffer
                            : BlockRole::kConstants);
}

// Buffers of items are one array, as long as the memory that is bound. In an array of buffers it
// is the member of a struct of its own.
// What a structured buffer, or one of bytes, is in the IR.
void AddItems(LowerContext& context, uint32_t id) {
  const Global& global = context.unit.globals[id];
  const Type& object = *ObjectOf(context, global.type);
  const ObjectFacts& facts = FactsOf(object.object);
  DeclRow row = RowOf(context, global, ir::DeclKind::kBuffer);
  row.decl.flags =
      FlagsOf(context, global,
              static_cast<uint32_t>(facts.writable ? ir::BufferKind::kReadWriteStorage
                                                   : ir::BufferKind::kReadOnlyStorage));
  const Type& type = context.TypeRow(global.type);
  // Blocks cannot nest in arrays of arrays, so the array in the block needs a struct around.
  const bool array = type.kind == TypeKind::kArray;
  const TypeId object_type = array ? context.unit.types.ElementOf(global.type) : global.type;
  const ir::Member member{.name = context.builder.Text(global.name),
                          .type = HandleTypeOf(context, object_type, {})};
  const ir::MemberSpans spans{.name = row.spans.name, .type = row.spans.type};
  if (array) {
    const ir::Decl block{.kind = ir::DeclKind::kStruct,
                         .name = context.builder.Text(global.name + ".items")};
    const ir::DeclId made = context.builder.Add(block, {.name = row.spans.name},
                                                std::span(&member, 1), std::span(&spans, 1));
    row.decl.type = context.builder.Array(
        context.builder.Intern({.kind = ir::TypeKind::kDeclared, .element = made.value}),
        ExtentOf(context, type));
    context.globals[id] = context.builder.Add(row.decl, row.spans);
    // Places find the struct by the declaration.
    context.item_blocks.Insert(context.globals[id].value, made);
  } else {
    context.globals[id] =
        context.builder.Add(row.decl, row.spans, std::span(&member, 1), std::span(&spans, 1));
  }
  // Matrices in items have the order of the setting: a structured buffer has no member that
  // could say.
  if (facts.shape == ObjectShape::kStructured &&
      StoresColumns(context, TypeId{object.element}, {})) {
    context.builder.Add(ir::Attribute{
        .of_member = 1, .key = ir::AttributeKey::kRowMajor, .owner = context.member_count});
  }
  ++context.member_count;
  AddAttributes(context, global.attributes, false, context.globals[id].value);
  AddRules(context, context.globals[id], BlockRole::kStorage);
}

// Images and samplers.
void AddHandle(LowerContext& context, uint32_t id) {
  const Global& global = context.unit.globals[id];
  const ObjectFacts& facts = FactsOf(ObjectOf(context, global.type)->object);
  const bool sampler = facts.shape == ObjectShape::kSampler;
  DeclRow row = RowOf(context, global, sampler ? ir::DeclKind::kSampler : ir::DeclKind::kImage);
  const ir::ImageAccess access =
      facts.writable ? ir::ImageAccess::kReadWrite : ir::ImageAccess::kReadOnly;
  row.decl.flags = FlagsOf(context, global, sampler ? 0 : static_cast<uint32_t>(access));
  row.decl.type = HandleTypeOf(context, global.type, WordsOf(context, global));
  context.globals[id] = context.builder.Add(row.decl, row.spans);
  AddAttributes(context, global.attributes, false, context.globals[id].value);
}

// All loose variables of a module, whatever stands between them, with the conditions of each.
void AddLoose(LowerContext& context) {
  std::vector<ir::Member> members;
  std::vector<ir::MemberSpans> spans;
  std::vector<uint32_t> ids;
  for (uint32_t i = 0; i < context.unit.globals.size(); ++i) {
    const Global& global = context.unit.globals[i];
    if (global.kind != GlobalKind::kLoose) {
      continue;
    }
    const DeclRow row = RowOf(context, global, ir::DeclKind::kBuffer);
    members.push_back({.name = row.decl.name,
                       .condition = row.decl.condition,
                       .type = TypeOf(context, global.type)});
    spans.push_back({.name = row.spans.name, .condition = row.spans.condition});
    context.global_member[i] = static_cast<uint32_t>(ids.size());
    ids.push_back(i);
  }
  if (ids.empty()) {
    return;
  }
  // The set is 0 unless layouts say otherwise; spec/hlsl 16.1.
  const ir::DeclId decl = context.builder.Add(
      {.kind = ir::DeclKind::kBuffer,
       .flags = static_cast<uint16_t>(ir::BufferKind::kUniform),
       .name = context.builder.Text("$Globals")},
      {.name = context.SpanOf(context.unit.globals[ids[0]].at)}, members, spans);
  AddRules(context, decl, BlockRole::kConstants);
  for (uint32_t i = 0; i < ids.size(); ++i) {
    const Global& global = context.unit.globals[ids[i]];
    context.globals[ids[i]] = decl;
    AddMemoryAttributes(context, global.type, global.attributes, context.member_count + i);
  }
  context.member_count += static_cast<uint32_t>(ids.size());
}

}  // namespace

// In the order of the source, which layouts count in (spec/hlsl 16.1).
void DeclareGlobals(LowerContext& context) {
  bool loose = false;
  for (uint32_t i = 0; i < context.unit.globals.size(); ++i) {
    switch (context.unit.globals[i].kind) {
      case GlobalKind::kConstant:
        break;
      case GlobalKind::kPrivate:
        AddPrivate(context, i);
        break;
      case GlobalKind::kShared:
        AddShared(context, i);
        break;
      case GlobalKind::kBlock:
        AddBlock(context, i);
        break;
      case GlobalKind::kResource: {
        const Type& object = *ObjectOf(context, context.unit.globals[i].type);
        const ObjectShape shape = FactsOf(object.object).shape;
        const bool items = shape == ObjectShape::kStructured || shape == ObjectShape::kBytes;
        items ? AddItems(context, i) : AddHandle(context, i);
        break;
      }
      case GlobalKind::kLoose:
        if (!loose) {  // at the place of the first of them
          AddLoose(context);
        }
        loose = true;
        break;
    }
  }
}

}  // namespace kiln::hlsl
