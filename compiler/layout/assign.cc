// SPDX-License-Identifier: MIT
#include "compiler/layout/assign.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/layout/attributes.h"
#include "compiler/layout/order.h"

namespace kiln::layout {
namespace {

constexpr uint32_t kSetCount = 4;
constexpr uint64_t kMaxSize = 0xffffffffu;

Location Where(const ir::Origin& origin) {
  return {.module = origin.module, .span_number = origin.span.value};
}

class Assigner {
 public:
  Assigner(const ir::ClosedVariant& variant, const target::Target& target, TypeLayouts& types)
      : pool_(*variant.pool), limits_(target.limits), types_(types) {
    [[maybe_unused]] uint64_t last = 0;
    for (const ir::ClosedDecl* decl : variant.interface) {
      const uint64_t place = uint64_t{decl->origin.module} << 32 | GroupOf(pool_, *decl);
      KILN_DCHECK(last <= place, "'{}' is out of order", pool_.Text(decl->name));
      last = place;
      Add(*decl);
    }
  }

  Diagnosed<Layout> Finish() && {
    Diagnosed<Layout> result{.diagnostics = std::move(diagnostics_)};
    if (!HasErrors(result.diagnostics)) {
      result.value = std::move(layout_);
    }
    return result;
  }

 private:
  void Add(const ir::ClosedDecl& decl);
  void AddContainer(const ir::ClosedDecl& container);
  void AddAttributes(const ir::ClosedDecl& container);
  // `next` is the counter of the kind of container.
  void AddFields(const ir::ClosedDecl& container, uint32_t& next);
  void AddBlock(const ir::ClosedDecl& block);
  // The field that makes the block too large, or the block itself.
  void ReportTooLarge(const ir::ClosedDecl& block);
  void CheckLimit(const ir::ClosedDecl& block, uint32_t size);
  Placement Bind(const ir::ClosedDecl& decl);

  std::string Text(ir::StringId id) const { return std::string(pool_.Text(id)); }

  const ir::Pool& pool_;
  const target::Limits& limits_;
  TypeLayouts& types_;
  std::array<uint32_t, kSetCount> next_binding_{};
  uint32_t next_attribute_ = 0;
  uint32_t next_state_ = 0;
  uint32_t next_output_ = 0;
  Layout layout_;
  std::vector<Diagnostic> diagnostics_;
};

void Assigner::Add(const ir::ClosedDecl& decl) {
  switch (decl.kind) {
    case ir::DeclKind::kContainer:
      AddContainer(decl);
      return;
    case ir::DeclKind::kBuffer:
    case ir::DeclKind::kPushConstant:
      AddBlock(decl);
      return;
    case ir::DeclKind::kSampler:
    case ir::DeclKind::kImage:
      layout_.Place(decl.decl, Bind(decl));
      return;
    case ir::DeclKind::kConstant:
    case ir::DeclKind::kSetting:
    case ir::DeclKind::kStruct:
    case ir::DeclKind::kFunction:
    case ir::DeclKind::kWorkgroup:
      break;
  }
  KILN_CHECK(false, "a declaration of kind {} has no place in an interface", decl.kind);
}

Placement Assigner::Bind(const ir::ClosedDecl& decl) {
  const auto set = static_cast<uint32_t>(decl.set());
  return {.set = set, .binding = next_binding_[set]++};
}

void Assigner::AddContainer(const ir::ClosedDecl& container) {
  switch (container.container()) {
    case ir::ContainerKind::kVertexAttributes:
    case ir::ContainerKind::kInstanceAttributes:
      AddAttributes(container);
      return;
    case ir::ContainerKind::kState:
      AddFields(container, next_state_);
      return;
    case ir::ContainerKind::kColorOutput:
      AddFields(container, next_output_);
      return;
  }
  KILN_UNREACHABLE();
}

void Assigner::AddAttributes(const ir::ClosedDecl& container) {
  AddFields(container, next_attribute_);
  VertexSource source = PackAttributes(pool_, container);
  source.binding = static_cast<uint32_t>(layout_.vertex_sources.size());
  for (Attribute& attribute : source.attributes) {
    attribute.location = layout_.LocationOf(attribute.member);
  }
  layout_.Place(container.decl, {.binding = source.binding, .row = source.binding});
  layout_.vertex_sources.push_back(std::move(source));
}

void Assigner::AddFields(const ir::ClosedDecl& container, uint32_t& next) {
  for (const ir::ClosedMember& field : container.members) {
    layout_.Locate(field.member, next);
    next += LocationsOf(pool_[field.type]);
  }
}

void Assigner::AddBlock(const ir::ClosedDecl& block) {
  const bool push = block.kind == ir::DeclKind::kPushConstant;
  Placement placement = push ? Placement{} : Bind(block);
  placement.row = static_cast<uint32_t>(layout_.blocks.size());
  layout_.Place(block.decl, placement);

  const Rules rules = RulesOf(block);
  const TypeLayout& type = types_.Of(block.type, rules);
  if (type.too_large) {
    ReportTooLarge(block);
  }
  const uint32_t size = type.too_large ? 0 : static_cast<uint32_t>(type.size);
  layout_.blocks.push_back({.decl = block.decl,
                            .rules = rules,
                            .main_size = size,
                            .tail_item_size = type.tail_stride,
                            .tail_offset = type.unsized ? size : 0});
  if (push) {
    layout_.push_constant_size = size;
  }
  CheckLimit(block, size);
}

void Assigner::ReportTooLarge(const ir::ClosedDecl& block) {
  const Rules rules = RulesOf(block);
  uint64_t end = 0;
  for (const ir::ClosedMember& field : block.members) {
    const TypeLayout& type = types_.Of(field.type, rules);
    end = RoundUp(end, type.alignment) + type.size;
    if (type.too_large || end > kMaxSize) {
      diagnostics_.push_back(
          Make(Code::kRpl4003, Where(field.origin)).With("name", Text(field.name)));
      return;
    }
  }
  diagnostics_.push_back(Make(Code::kRpl4003, Where(block.origin)).With("name", Text(block.name)));
}

void Assigner::CheckLimit(const ir::ClosedDecl& block, uint32_t size) {
  const bool push = block.kind == ir::DeclKind::kPushConstant;
  if (!push && block.buffer() != ir::BufferKind::kUniform) {
    return;
  }
  const uint32_t limit = push ? limits_.push_constant_size : limits_.uniform_buffer_size;
  if (size > limit) {
    diagnostics_.push_back(Make(Code::kRpl4053, Where(block.origin))
                               .With("kind", push ? "push constant" : "uniform buffer")
                               .With("owner", Text(block.name))
                               .With("size", size)
                               .With("limit", limit));
  }
}

}  // namespace

Rules RulesOf(const ir::ClosedDecl& block) {
  const bool uniform =
      block.kind == ir::DeclKind::kBuffer && block.buffer() == ir::BufferKind::kUniform;
  return uniform ? Rules::kStd140 : Rules::kStd430;
}

Diagnosed<Layout> Assign(const ir::ClosedVariant& variant, const target::Target& target,
                         TypeLayouts& types) {
  return Assigner(variant, target, types).Finish();
}

}  // namespace kiln::layout
