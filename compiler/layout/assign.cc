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

// One numbering of locations, over all containers of its kind.
struct Locations {
  std::string_view what;  // plural, for messages
  uint32_t limit;         // more than that gives a lint
  uint32_t next = 0;

  // First location of a field that takes `count`; `over` tells that it is the first beyond the
  // limit.
  uint32_t Take(uint32_t count, bool& over) {
    const uint32_t first = next;
    next += count;
    over = first <= limit && next > limit;
    return first;
  }
};

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
  void AddFields(const ir::ClosedDecl& container, Locations& locations);
  void AddBlock(const ir::ClosedDecl& block);
  void LocateField(const ir::ClosedMember& field, Locations& locations);
  // The field that makes the block too large, or the block itself.
  void ReportTooLarge(const ir::ClosedDecl& block);
  void CheckLimit(const ir::ClosedDecl& block, uint32_t size);
  Placement Bind(const ir::ClosedDecl& decl);

  std::string Text(ir::StringId id) const { return std::string(pool_.Text(id)); }

  const ir::Pool& pool_;
  const target::Limits& limits_;
  TypeLayouts& types_;
  std::array<uint32_t, kSetCount> next_binding_{};
  Locations attributes_{.what = "attributes", .limit = 16};
  Locations state_{.what = "state fields", .limit = 32};
  Locations outputs_{.what = "colour outputs", .limit = kMaxSize};
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
      AddFields(container, state_);
      return;
    case ir::ContainerKind::kColorOutput:
      AddFields(container, outputs_);
      return;
  }
  KILN_UNREACHABLE();
}

void Assigner::AddAttributes(const ir::ClosedDecl& container) {
  VertexSource source = PackAttributes(pool_, container);
  source.binding = static_cast<uint32_t>(layout_.vertex_sources.size());
  for (size_t i = 0; i < container.members.size(); ++i) {
    const ir::ClosedMember& field = container.members[i];
    LocateField(field, attributes_);
    source.attributes[i].location = layout_.LocationOf(field.member);
  }
  layout_.Place(container.decl, {.binding = source.binding, .row = source.binding});
  layout_.vertex_sources.push_back(std::move(source));
}

void Assigner::AddFields(const ir::ClosedDecl& container, Locations& locations) {
  for (const ir::ClosedMember& field : container.members) {
    LocateField(field, locations);
  }
}

void Assigner::LocateField(const ir::ClosedMember& field, Locations& locations) {
  bool over = false;
  layout_.Locate(field.member, locations.Take(LocationsOf(pool_[field.type]), over));
  if (over) {
    diagnostics_.push_back(Make(Code::kRpl4045, Where(field.origin))
                               .With("kind", locations.what)
                               .With("count", locations.next)
                               .With("limit", locations.limit));
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
