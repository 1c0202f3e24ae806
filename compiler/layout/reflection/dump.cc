// SPDX-License-Identifier: MIT
#include "compiler/layout/reflection/dump.h"

#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/layout/engine/engine.h"
#include "compiler/layout/engine/wgsl_checks.h"
#include "compiler/layout/rpl_adapter.h"

namespace kiln::layout {
namespace {

// Every member is listed once, whatever array it lies in, so a list is as long as the declaration
// and not as the data.
class Lister {
 public:
  Lister(ByteLayouts& bytes, Rules rules) : bytes_(bytes), types_(bytes.types()), rules_(rules) {}

  // Members of nested structs are listed with dotted names, behind the member that holds them. An
  // array of structs is shown by its first item.
  void Struct(TypeId id, const std::string& prefix, uint64_t start) {
    const TypeLayout& layout = bytes_.Of(id, rules_);
    const std::span<const Member> members = types_.Members(id);
    for (size_t i = 0; i < members.size(); ++i) {
      const Type& type = types_[members[i].type];
      // Resources have no bytes and are listed as leaves of their parameter.
      if (type.has_bytes || !type.has_resources) {
        Add(members[i], prefix + std::string(members[i].name), start + layout.offsets[i]);
      }
    }
  }
  std::vector<ListedMember> Take() { return std::move(out_); }

 private:
  void Add(const Member& member, std::string path, uint64_t offset) {
    const TypeLayout& layout = bytes_.Of(member, rules_);
    out_.push_back(
        {.path = path,
         .type = member.type,
         .offset = offset,
         .size = layout.size,
         .alignment = layout.alignment,
         .unsized = layout.unsized,
         .array_stride = layout.stride,
         .matrix_stride = layout.matrix_stride,
         .row_major = layout.matrix_stride != 0 && bytes_.OrderOf(member) == MatrixOrder::kRow,
         .as_columns = NeedsColumns(bytes_, member, rules_)});
    TypeId type = member.type;
    // Arrays of arrays get a "[0]" for each dimension, as a source would write the first item.
    // The loop also keeps the type of the item, which decides whether there is anything below it.
    for (; IsArray(types_[type]); type = types_[type].element) {
      path += "[0]";
    }
    if (types_[type].kind == TypeKind::kStruct) {
      Struct(type, path + ".", offset);
    }
  }

  ByteLayouts& bytes_;
  const Types& types_;
  Rules rules_;
  std::vector<ListedMember> out_;
};

// The dump is hashed (LayoutHash), so its text is an interface: a changed word changes every layout
// hash.
class Writer {
 public:
  Writer(const Program& program, const ProgramLayout& layout, ByteLayouts& bytes)
      : program_(program), layout_(layout), bytes_(bytes), types_(bytes.types()) {}

  // With errors the numbers mean nothing, so the findings are the dump.
  std::string Text() {
    if (!layout_.ok()) {
      for (const Finding& finding : layout_.findings) {
        Line("{} {}", CodeText(finding.diagnostic.code), Message(finding.diagnostic));
      }
      return std::move(out_);
    }
    Line("kiln-layout 1");
    Line("target {} policy {} uniform {} storage {} push {}", PlatformName(program_.platform),
         program_.policy == Policy::kRpl ? "rpl" : "first_fit",
         TraitsOf(UniformRules(program_)).name, TraitsOf(StorageRules(program_)).name,
         TraitsOf(PushRules(program_)).name);
    // Loose globals of a program form one block, which no parameter names.
    if (layout_.globals) {
      Line("globals {}", PlaceText(program_.platform, layout_.globals->place));
      Block(layout_.globals->content, layout_.globals->rules);
    }
    Declarations();
    for (const PlacedEntry& entry : layout_.entries) {
      Entry(entry);
    }
    return std::move(out_);
  }

 private:
  // One fact a line, so that two dumps are compared line by line.
  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  void Declarations();
  void Container(const PlacedContainer& placed, const layout::Container& container);
  void Parameter(const PlacedParameter& parameter);
  void Block(TypeId content, Rules rules);
  void Member(const ListedMember& member);
  void Entry(const PlacedEntry& entry);
  void Varying(std::string_view word, const PlacedVarying& varying);
  std::string Places(const PlacedLeaf& leaf) const;
  std::string UnitName(uint32_t unit) const {
    // Units without a name go by their number.
    const std::string_view name = program_.units[unit].name;
    return name.empty() ? fmt::format("u{}", unit) : std::string(name);
  }

  const Program& program_;
  const ProgramLayout& layout_;
  ByteLayouts& bytes_;
  const Types& types_;
  std::string out_;
};

// Unit by unit; containers of a unit come before its parameters.
void Writer::Declarations() {
  // Placed containers and parameters are two lists in the order of declarations; these counters
  // walk along with it.
  size_t container = 0;
  size_t parameter = 0;
  // The units of the program itself come before those that it imports.
  for (const bool imported : {false, true}) {
    for (uint32_t unit = 0; unit < program_.units.size(); ++unit) {
      if (program_.units[unit].imported != imported) {
        continue;
      }
      for (const layout::Container& declared : program_.units[unit].containers) {
        Container(layout_.containers[container++], declared);
      }
      while (parameter < layout_.parameters.size() && layout_.parameters[parameter].unit == unit) {
        Parameter(layout_.parameters[parameter++]);
      }
    }
  }
}

void Writer::Container(const PlacedContainer& placed, const layout::Container& container) {
  const bool attributes =
      placed.role == ContainerRole::kVertex || placed.role == ContainerRole::kInstance;
  if (attributes) {
    Line("vertex_buffer {} {} {} {}", placed.name, placed.binding,
         placed.role == ContainerRole::kInstance ? "instance" : "vertex", placed.size);
  } else {
    Line("{} {}", placed.role == ContainerRole::kState ? "state" : "color_output", placed.name);
  }
  for (size_t i = 0; i < placed.fields.size(); ++i) {
    const PackedField& field = container.fields[i];
    const PackedPlace& place = placed.fields[i];
    // The number of components follows from the two sizes, so it is not kept.
    if (attributes) {
      Line("  {} {} {} {}x{} location {}", place.offset, place.size, field.name,
           ItemFormatText(field.format), place.size / ItemSize(field.format), place.location);
    } else {
      // State and colour outputs have locations but no bytes.
      Line("  {} {} {}", place.location, field.name, TypeText(types_, field.type));
    }
  }
}

std::string Writer::Places(const PlacedLeaf& leaf) const {
  std::string text;
  for (const Place& place : leaf.places) {
    // The attachment of a subpass input is no binding and would look like one.
    if (place.kind != Kind::kAttachment) {
      text += (text.empty() ? "" : " ") + PlaceText(program_.platform, place);
    }
  }
  return text;
}

void Writer::Parameter(const PlacedParameter& parameter) {
  std::string head = fmt::format("param {} {} unit {}", parameter.name,
                                 TypeText(types_, parameter.type), UnitName(parameter.unit));
  if (parameter.block && parameter.spaces) {
    head += " " + PlaceText(program_.platform, *parameter.spaces);
  }
  if (parameter.spec_id) {
    head += fmt::format(" spec {}", *parameter.spec_id);
  }
  // A place that the author wrote is marked, as it does not move when other declarations change.
  Line("{}{}{}", head, parameter.is_explicit && parameter.leaves.empty() ? " explicit" : "",
       parameter.absent ? " absent" : "");
  for (const PlacedLeaf& leaf : parameter.leaves) {
    Line("  leaf {} {} {}{}", leaf.path, TypeText(types_, leaf.type), Places(leaf),
         parameter.is_explicit ? " explicit" : "");
    if (leaf.content.valid()) {
      Block(leaf.content, *leaf.rules);
    }
  }
}

void Writer::Block(TypeId content, Rules rules) {
  const TypeLayout& layout = bytes_.Of(content, rules);
  std::string line =
      fmt::format("  block {} size {} align {}", TraitsOf(rules).name,
                  layout.unsized ? "unsized" : std::to_string(layout.size), layout.alignment);
  // D3D counts constant buffers in registers of 16 bytes.
  if (rules == Rules::kD3dCbuffer) {
    line += fmt::format(" registers {}", RoundUp(layout.size, 16) / 16);
  }
  if (layout.unsized) {
    line += fmt::format(" tail {} {}", layout.size, layout.tail_stride);
  }
  Line("{}", line);
  for (const ListedMember& member : ListMembers(bytes_, content, rules)) {
    Member(member);
  }
}

void Writer::Member(const ListedMember& member) {
  std::string line = fmt::format("    {} {} {} {}", member.offset,
                                 member.unsized ? "unsized" : std::to_string(member.size),
                                 member.path, TypeText(types_, member.type));
  if (member.array_stride != 0) {
    line += fmt::format(" stride {}", member.array_stride);
  }
  if (member.matrix_stride != 0) {
    line += fmt::format(" matrix {} {}", member.matrix_stride, member.row_major ? "row" : "col");
    // WGSL has neither row-major matrices nor strides of its own; how such a member is declared
    // instead is told here.
    if (program_.platform == Platform::kWebgpu) {
      line += member.as_columns ? " columns" : "";
      line += member.row_major ? " transposed" : "";
    }
  }
  Line("{}", line);
}

void Writer::Entry(const PlacedEntry& entry) {
  Line("entry {} {}", entry.name, entry.stage);
  for (const PlacedVarying& varying : entry.in) {
    Varying("in", varying);
  }
  for (const PlacedVarying& varying : entry.out) {
    Varying("out", varying);
  }
}

void Writer::Varying(std::string_view word, const PlacedVarying& varying) {
  // Built-in variables have no location.
  std::string line =
      fmt::format("  {} {} {} {}", word, varying.location ? std::to_string(*varying.location) : "-",
                  varying.path, TypeText(types_, varying.type));
  if (!varying.builtin.empty()) {
    line += fmt::format(" builtin {}", varying.builtin);
  }
  if (!varying.semantic.empty()) {
    // Name and number stand together, as in the source.
    line += fmt::format(" semantic {}{}", varying.semantic, varying.semantic_index);
  }
  if (!varying.interpolation.empty()) {
    line += fmt::format(" {}", varying.interpolation);
  }
  Line("{}", line);
}

}  // namespace

std::vector<ListedMember> ListMembers(ByteLayouts& bytes, TypeId content, Rules rules) {
  // Only a struct has members; the content of a structured buffer may be a plain vector.
  if (bytes.types()[content].kind != TypeKind::kStruct) {
    return {};
  }
  Lister lister(bytes, rules);
  lister.Struct(content, "", 0);
  return lister.Take();
}

std::string Dump(const Program& program, const ProgramLayout& layout, ByteLayouts& bytes) {
  return Writer(program, layout, bytes).Text();
}

std::string DumpLayout(const ir::SpecialisedProgram& variant, const target::Target& target,
                       TypeLayouts& types) {
  const DescribedVariant described = Describe(variant, target, types);
  const ProgramLayout layout = LayOut(described.program, types.types(), types.bytes());
  return Dump(described.program, layout, types.bytes());
}

}  // namespace kiln::layout
