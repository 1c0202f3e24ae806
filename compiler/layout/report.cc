// SPDX-License-Identifier: MIT
#include "compiler/layout/report.h"

#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/layout/assign.h"
#include "compiler/layout/attributes.h"

namespace kiln::layout {
namespace {

std::string_view BlockKind(const ir::ClosedDecl& decl) {
  if (decl.kind == ir::DeclKind::kPushConstant) {
    return "push_constant";
  }
  switch (decl.buffer()) {
    case ir::BufferKind::kUniform:
      return "uniform_buffer";
    case ir::BufferKind::kReadOnlyStorage:
      return "read_only_storage_buffer";
    case ir::BufferKind::kReadWriteStorage:
      return "read_write_storage_buffer";
  }
  KILN_UNREACHABLE();
}

class Report {
 public:
  Report(const ir::ClosedVariant& variant, const Layout& layout, TypeLayouts& types)
      : variant_(variant), pool_(*variant.pool), layout_(layout), types_(types) {}

  std::string Text() {
    Line("kiln-layout 1");
    Line("target vulkan policy rpl uniform {} storage {} push {}", TraitsOf(Rules::kStd140).name,
         TraitsOf(Rules::kStd430).name, TraitsOf(Rules::kStd430).name);
    for (const ir::ClosedDecl* decl : variant_.interface) {
      Declaration(*decl);
    }
    return std::move(out_);
  }

 private:
  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  void Declaration(const ir::ClosedDecl& decl);
  void Container(const ir::ClosedDecl& container);
  void Source(const ir::ClosedDecl& container);
  void Fields(std::string_view kind, const ir::ClosedDecl& container);
  void Block(const ir::ClosedDecl& decl);
  // Members of a struct that starts at byte `start`, each with what it contains.
  void Members(ir::TypeId type, Rules rules, const std::string& prefix, uint64_t start);
  void Member(ir::TypeId type, Rules rules, const std::string& path, uint64_t offset);

  std::string Place(const ir::ClosedDecl& decl) const {
    const Placement& placement = layout_.PlacementOf(decl.decl);
    return fmt::format("set{}.{}", placement.set, placement.binding);
  }
  void Head(const ir::ClosedDecl& decl, std::string_view type) {
    Line("param {} {} unit u{}", pool_.Text(decl.name), type, decl.origin.module);
  }

  const ir::ClosedVariant& variant_;
  const ir::Pool& pool_;
  const Layout& layout_;
  TypeLayouts& types_;
  std::string out_;
};

void Report::Declaration(const ir::ClosedDecl& decl) {
  switch (decl.kind) {
    case ir::DeclKind::kContainer:
      Container(decl);
      return;
    case ir::DeclKind::kBuffer:
    case ir::DeclKind::kPushConstant:
      Block(decl);
      return;
    case ir::DeclKind::kSampler:
    case ir::DeclKind::kImage: {
      const std::string type = ir::TypeText(pool_, decl.type);
      const std::string name(pool_.Text(decl.name));
      Head(decl, type);
      // The count is part of the place: "set1.2[4]".
      const size_t bracket = type.find('[');
      Line("  leaf {} {} {}{}", name, type.substr(0, bracket), Place(decl),
           bracket == std::string::npos ? "" : type.substr(bracket));
      return;
    }
    case ir::DeclKind::kConstant:
    case ir::DeclKind::kSetting:
    case ir::DeclKind::kStruct:
    case ir::DeclKind::kFunction:
    case ir::DeclKind::kWorkgroup:
      break;
  }
  KILN_UNREACHABLE();
}

void Report::Container(const ir::ClosedDecl& container) {
  switch (container.container()) {
    case ir::ContainerKind::kVertexAttributes:
    case ir::ContainerKind::kInstanceAttributes:
      Source(container);
      return;
    case ir::ContainerKind::kState:
      Fields("state", container);
      return;
    case ir::ContainerKind::kColorOutput:
      Fields("color_output", container);
      return;
  }
  KILN_UNREACHABLE();
}

void Report::Source(const ir::ClosedDecl& container) {
  const VertexSource& source = layout_.SourceOf(container.decl);
  Line("vertex_buffer {} {} {} {}", pool_.Text(container.name), source.binding,
       source.per_instance ? "instance" : "vertex", source.stride);
  for (size_t i = 0; i < source.attributes.size(); ++i) {
    const ir::ClosedMember& field = container.members[i];
    const Attribute& attribute = source.attributes[i];
    const ir::Type& type = pool_[field.type];
    Line("  {} {} {} {}x{} location {}", attribute.offset,
         attribute.location_count * type.rows * ItemSize(attribute.format), pool_.Text(field.name),
         ItemFormatText(attribute.format), attribute.location_count * type.rows,
         attribute.location);
  }
}

void Report::Fields(std::string_view kind, const ir::ClosedDecl& container) {
  Line("{} {}", kind, pool_.Text(container.name));
  for (const ir::ClosedMember& field : container.members) {
    Line("  {} {} {}", layout_.LocationOf(field.member), pool_.Text(field.name),
         ir::TypeText(pool_, field.type));
  }
}

void Report::Block(const ir::ClosedDecl& decl) {
  const layout::Block& block = layout_.BlockOf(decl.decl);
  const TypeLayout& type = types_.Of(decl.type, block.rules);
  const std::string_view kind = BlockKind(decl);
  const bool push = decl.kind == ir::DeclKind::kPushConstant;
  Head(decl, kind);
  Line("  leaf {} {} {}", pool_.Text(decl.name), kind, push ? "push" : Place(decl));
  std::string line =
      fmt::format("  block {} size {} align {}", TraitsOf(block.rules).name,
                  type.unsized ? "unsized" : std::to_string(type.size), type.alignment);
  if (type.unsized) {
    line += fmt::format(" tail {} {}", block.tail_offset, block.tail_item_size);
  }
  Line("{}", line);
  Members(decl.type, block.rules, "", 0);
}

void Report::Members(ir::TypeId type, Rules rules, const std::string& prefix, uint64_t start) {
  const TypeLayout& layout = types_.Of(type, rules);
  const auto members = pool_.Members(type);
  for (size_t i = 0; i < members.size(); ++i) {
    Member(members[i].type, rules, fmt::format("{}{}", prefix, pool_.Text(members[i].name)),
           start + layout.offsets[i]);
  }
}

void Report::Member(ir::TypeId type, Rules rules, const std::string& path, uint64_t offset) {
  const TypeLayout& layout = types_.Of(type, rules);
  std::string line = fmt::format("    {} {} {} {}", offset,
                                 layout.unsized ? "unsized" : std::to_string(layout.size), path,
                                 ir::TypeText(pool_, type));
  if (layout.stride != 0) {
    line += fmt::format(" stride {}", layout.stride);
  }
  if (layout.matrix_stride != 0) {
    line += fmt::format(" matrix {} col", layout.matrix_stride);
  }
  Line("{}", line);
  // What an array holds is shown once, as its first item.
  std::string item = path;
  while (pool_[type].kind == ir::TypeKind::kArray ||
         pool_[type].kind == ir::TypeKind::kRuntimeArray) {
    type = ir::TypeId{pool_[type].element};
    item += "[0]";
  }
  if (pool_[type].kind == ir::TypeKind::kStruct) {
    Members(type, rules, item + ".", offset);
  }
}

}  // namespace

std::string DumpLayout(const ir::ClosedVariant& variant, const Layout& layout, TypeLayouts& types) {
  return Report(variant, layout, types).Text();
}

}  // namespace kiln::layout
