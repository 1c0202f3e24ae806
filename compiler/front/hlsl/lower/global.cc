// SPDX-License-Identifier: MIT
// A block is a buffer with fields, so its struct is the buffer itself; a block of a declared struct
// has this as its content. Loose variables are the fields of one buffer, `$Globals`, in their
// order.
#include "compiler/front/hlsl/lower/global.h"

#include <string>
#include <vector>

#include "compiler/front/hlsl/lower/cexpr.h"
#include "compiler/front/hlsl/lower/image.h"
#include "compiler/front/hlsl/lower/type.h"
#include "compiler/front/hlsl/lower/value.h"
#include "compiler/front/hlsl/sema/object.h"

namespace kiln::hlsl {
namespace {

const Attributes* AttributesOf(const LowerContext& context, AttributesId id) {
  return id.valid() ? &context.unit.attributes[id.value] : nullptr;
}

uint16_t FlagsOf(const LowerContext& context, const Global& global, uint32_t low) {
  const Attributes* row = AttributesOf(context, global.attributes);
  const uint32_t set = row == nullptr || row->home_set > 3 ? 0 : row->home_set;
  return static_cast<uint16_t>(low | set << 8);
}

struct Row {
  ir::Decl decl;
  ir::DeclSpans spans;
};
Row RowOf(LowerContext& context, const Global& global, ir::DeclKind kind) {
  Row row{.decl = {.kind = kind, .name = context.builder.Text(global.name)},
          .spans = {.name = context.SpanOf(global.at), .type = context.SpanOf(global.at)}};
  if (global.condition.valid()) {
    row.decl.condition = CexprOf(context, global.condition, &row.spans.condition);
  }
  return row;
}

// A function that gives the first value of a variable, which a compile-time expression cannot say.
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

void AddPrivate(LowerContext& context, uint32_t id) {
  const Global& global = context.unit.globals[id];
  Row row = RowOf(context, global, ir::DeclKind::kPrivate);
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

void AddShared(LowerContext& context, uint32_t id) {
  const Global& global = context.unit.globals[id];
  Row row = RowOf(context, global, ir::DeclKind::kWorkgroup);
  row.decl.type = TypeOf(context, global.type);
  context.globals[id] = context.builder.Add(row.decl, row.spans);
}

void AddBlock(LowerContext& context, uint32_t id) {
  const Global& global = context.unit.globals[id];
  const Attributes* attributes = AttributesOf(context, global.attributes);
  const bool pushed = attributes != nullptr && attributes->push_constant;
  Row row = RowOf(context, global, pushed ? ir::DeclKind::kPushConstant : ir::DeclKind::kBuffer);
  const ir::BufferKind kind =
      global.storage ? ir::BufferKind::kReadOnlyStorage : ir::BufferKind::kUniform;
  if (!pushed) {
    row.decl.flags = FlagsOf(context, global, static_cast<uint32_t>(kind));
  }
  if (global.fields) {
    context.globals[id] =
        DeclareFields(context, StructId{context.TypeRow(global.type).element}, row.decl, row.spans);
  } else {
    row.decl.type = TypeOf(context, global.type);
    context.globals[id] = context.builder.Add(row.decl, row.spans);
  }
  AddAttributes(context, global.attributes, false, context.globals[id].value);
}

// Of a structured buffer: one array of its items, as long as the memory that is bound.
void AddStructured(LowerContext& context, uint32_t id) {
  const Global& global = context.unit.globals[id];
  const Type& type = context.TypeRow(global.type);
  const ObjectFacts& facts = FactsOf(type.object);
  Row row = RowOf(context, global, ir::DeclKind::kBuffer);
  row.decl.flags =
      FlagsOf(context, global,
              static_cast<uint32_t>(facts.writable ? ir::BufferKind::kReadWriteStorage
                                                   : ir::BufferKind::kReadOnlyStorage));
  const TypeId item{type.element};
  const ir::Member member{.name = context.builder.Text(global.name),
                          .type = context.builder.RuntimeArray(TypeOf(context, item))};
  const ir::MemberSpans spans{.name = row.spans.name, .type = row.spans.type};
  context.globals[id] =
      context.builder.Add(row.decl, row.spans, std::span(&member, 1), std::span(&spans, 1));
  if (StoresColumns(context, item, {})) {
    context.builder.Add(ir::Attribute{
        .of_member = 1, .key = ir::AttributeKey::kRowMajor, .owner = context.member_count});
  }
  ++context.member_count;
  AddAttributes(context, global.attributes, false, context.globals[id].value);
}

void AddHandle(LowerContext& context, uint32_t id) {
  const Global& global = context.unit.globals[id];
  const ObjectFacts& facts = FactsOf(context.TypeRow(global.type).object);
  const bool sampler = facts.shape == ObjectShape::kSampler;
  Row row = RowOf(context, global, sampler ? ir::DeclKind::kSampler : ir::DeclKind::kImage);
  const ir::ImageAccess access =
      facts.writable ? ir::ImageAccess::kReadWrite : ir::ImageAccess::kReadOnly;
  row.decl.flags = FlagsOf(context, global, sampler ? 0 : static_cast<uint32_t>(access));
  row.decl.type = sampler ? context.builder.Sampler() : ImageTypeOf(context, global);
  context.globals[id] = context.builder.Add(row.decl, row.spans);
  AddAttributes(context, global.attributes, false, context.globals[id].value);
}

void AddLoose(LowerContext& context) {
  std::vector<ir::Member> members;
  std::vector<ir::MemberSpans> spans;
  std::vector<uint32_t> ids;
  for (uint32_t i = 0; i < context.unit.globals.size(); ++i) {
    const Global& global = context.unit.globals[i];
    if (global.kind != GlobalKind::kLoose) {
      continue;
    }
    const Row row = RowOf(context, global, ir::DeclKind::kBuffer);
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
  const ir::DeclId decl = context.builder.Add(
      {.kind = ir::DeclKind::kBuffer,
       .flags = static_cast<uint16_t>(ir::BufferKind::kUniform),
       .name = context.builder.Text("$Globals")},
      {.name = context.SpanOf(context.unit.globals[ids[0]].at)}, members, spans);
  for (uint32_t i = 0; i < ids.size(); ++i) {
    const Global& global = context.unit.globals[ids[i]];
    context.globals[ids[i]] = decl;
    AddMemoryAttributes(context, global.type, global.attributes, context.member_count + i);
  }
  context.member_count += static_cast<uint32_t>(ids.size());
}

}  // namespace

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
        const Type& type = context.TypeRow(context.unit.globals[i].type);
        FactsOf(type.object).shape == ObjectShape::kStructured ? AddStructured(context, i)
                                                               : AddHandle(context, i);
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
