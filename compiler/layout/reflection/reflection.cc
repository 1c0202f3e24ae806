// SPDX-License-Identifier: MIT
#include "compiler/layout/reflection/reflection.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "compiler/base/hash/canonical.h"
#include "compiler/layout/reflection/dump.h"
#include "compiler/layout/reflection/reflection_wire.h"

namespace kiln::layout {
namespace {

using Json = nlohmann::ordered_json;

// "unbounded" instead of the number that stands for it inside, which means nothing outside.
Json CountJson(uint64_t count) { return count >= kUnbounded ? Json("unbounded") : Json(count); }

// Reflection is JSON first: the wire form is made of it, so both say the same.
class Reflection {
 public:
  Reflection(const Program& program, const ProgramLayout& layout, ByteLayouts& bytes)
      : program_(program), layout_(layout), bytes_(bytes), types_(bytes.types()) {}

  Json Run(const std::vector<ParameterUsage>& usage) {
    Json json = {
        {"version", 1},
        {"target", PlatformName(program_.platform)},
        {"policy", program_.policy == Policy::kRpl ? "rpl" : "first_fit"},
        {"pack", program_.settings.pack_variants == PackVariants::kUnion ? "union" : "per_variant"},
        {"layout_hash", LayoutHash(program_, layout_, bytes_).hex()}};
    // All members are put there at once, in the order of the schema: the list is complete even
    // where a program has nothing of a kind.
    json["parameters"] = Json::array();
    json["globals"] = nullptr;
    json["vertex_buffers"] = Json::array();
    json["push"] = nullptr;
    json["spec"] = Json::array();
    for (const PlacedParameter& parameter : layout_.parameters) {
      Add(parameter, json);
    }
    if (layout_.globals) {
      json["globals"] = Position(layout_.globals->place);
      json["globals"]["block"] = Block(layout_.globals->content, layout_.globals->rules);
    }
    AddContainers(json);
    json["entry_points"] = Json::array();
    for (const PlacedEntry& entry : layout_.entries) {
      json["entry_points"].push_back({{"name", entry.name},
                                      {"stage", entry.stage},
                                      {"in", Varyings(entry.in)},
                                      {"out", Varyings(entry.out)}});
    }
    json["usage"] = Json::object();
    // Which stages use a parameter is given by the caller: a layout does not know it.
    for (const ParameterUsage& row : usage) {
      // By name, so a parameter that two stages use has one row.
      json["usage"][std::string(row.parameter)] = row.stages;
    }
    return json;
  }

 private:
  // The three numbers that every binding has.
  static Json Position(const Place& place) {
    return {{"kind", KindText(place.kind)}, {"space", place.space}, {"index", place.index}};
  }

  // Units without a name go by their number.
  std::string UnitName(uint32_t unit) const {
    const std::string_view name = program_.units[unit].name;
    return name.empty() ? "u" + std::to_string(unit) : std::string(name);
  }

  void Add(const PlacedParameter& parameter, Json& json);
  void AddContainers(Json& json);
  Json Leaf(const PlacedLeaf& leaf);
  Json Block(TypeId content, Rules rules);
  Json Element(const PlacedLeaf& leaf);
  Json Varyings(const std::vector<PlacedVarying>& varyings) const;

  const Program& program_;
  const ProgramLayout& layout_;
  ByteLayouts& bytes_;
  const Types& types_;
};

// A row for each parameter, in the order of the program.
void Reflection::Add(const PlacedParameter& parameter, Json& json) {
  // A specialization constant is in both lists: it is a parameter of the program, and whoever makes
  // a pipeline looks for its number.
  if (parameter.spec_id) {
    json["spec"].push_back({{"name", parameter.name},
                            {"type", TypeText(types_, parameter.type)},
                            {"id", *parameter.spec_id}});
  }
  Json row = {{"name", parameter.name},
              {"unit", UnitName(parameter.unit)},
              {"type", TypeText(types_, parameter.type)},
              {"explicit", parameter.is_explicit}};
  // Written only if it holds, like all marks: most parameters have none.
  if (parameter.absent) {
    row["absent"] = true;
  }
  if (parameter.spaces) {
    row["spaces"] = {{"first", parameter.spaces->index}, {"count", parameter.spaces->count}};
  }
  row["leaves"] = Json::array();
  for (const PlacedLeaf& leaf : parameter.leaves) {
    // Push constants are a leaf like others and stand a second time at the top, where a runtime
    // looks for them.
    if (!leaf.places.empty() && leaf.places[0].kind == Kind::kPush) {
      json["push"] = {{"name", leaf.path}, {"block", Block(leaf.content, *leaf.rules)}};
    }
    row["leaves"].push_back(Leaf(leaf));
  }
  json["parameters"].push_back(std::move(row));
}

// A leaf is what a device binds: a parameter that is a struct of resources has one for each of
// them.
Json Reflection::Leaf(const PlacedLeaf& leaf) {
  Json row = {{"path", leaf.path}, {"type", TypeText(types_, leaf.type)}};
  if (!leaf.places.empty()) {
    // The first place is where the resource is.
    row.update(Position(leaf.places.front()));
    row["count"] = CountJson(leaf.places.front().count);
  }
  row["strides"] = leaf.strides;
  Json more = Json::array();
  for (size_t i = 1; i < leaf.places.size(); ++i) {
    if (leaf.places[i].kind == Kind::kAttachment) {
      // An attachment is no further element of an array but another property of the same input.
      row["attachment"] = leaf.places[i].index;
    } else {
      more.push_back(Position(leaf.places[i]));
    }
  }
  if (!more.empty()) {
    row["elements"] = std::move(more);
  }
  if (leaf.dynamic_offset) {
    row["dynamic_offset"] = true;
  }
  if (leaf.content.valid()) {
    const Type& type = types_[leaf.type];
    // A resource with elements and without an extent is a structured buffer: the block is one
    // element of it.
    const bool element = type.kind == TypeKind::kResource && type.extent == 0;
    row[element ? "element" : "block"] = element ? Element(leaf) : Block(leaf.content, *leaf.rules);
  }
  return row;
}

// The element of a structured buffer; its stride is that of an array of it.
Json Reflection::Element(const PlacedLeaf& leaf) {
  Json row = Block(leaf.content, *leaf.rules);
  const TypeLayout& layout = bytes_.Of(leaf.content, *leaf.rules);
  const uint32_t least = TraitsOf(*leaf.rules).array_alignment;
  // An array of elements begins each at its alignment, which the rules may raise.
  row["element_stride"] = RoundUp(layout.size, std::max(least, layout.alignment));
  return row;
}

// Members are listed in full, down to scalars, vectors and matrices, with paths from the block.
Json Reflection::Block(TypeId content, Rules rules) {
  const TypeLayout& layout = bytes_.Of(content, rules);
  Json row = {{"rules", TraitsOf(rules).name},
              {"size", layout.unsized ? Json("unsized") : Json(layout.size)},
              {"align", layout.alignment}};
  // D3D counts in registers of 16 bytes.
  if (rules == Rules::kD3dCbuffer) {
    row["registers"] = RoundUp(layout.size, 16) / 16;
  }
  if (layout.unsized) {
    row["tail_offset"] = layout.size;
    row["tail_stride"] = layout.tail_stride;
  }
  row["main_size"] = MainSize(layout);
  row["members"] = Json::array();
  for (const ListedMember& listed : ListMembers(bytes_, content, rules)) {
    Json member = {{"path", listed.path},
                   {"type", TypeText(types_, listed.type)},
                   {"offset", listed.offset},
                   {"size", listed.unsized ? Json("unsized") : Json(listed.size)}};
    if (listed.array_stride != 0) {
      member["array_stride"] = listed.array_stride;
    }
    if (listed.matrix_stride != 0) {
      member["matrix_stride"] = listed.matrix_stride;
      member["order"] = listed.row_major ? "row" : "col";
      if (program_.platform == Platform::kWebgpu && listed.as_columns) {
        member["as_columns"] = true;
      }
      if (program_.platform == Platform::kWebgpu && listed.row_major) {
        member["transposed"] = true;
      }
    }
    row["members"].push_back(std::move(member));
  }
  return row;
}

// Vertex and instance containers only: state and colours are no buffers that somebody fills.
void Reflection::AddContainers(Json& json) {
  // Placed containers lie in the order of their declarations, so one counter walks along.
  size_t next = 0;
  for (const Unit& unit : program_.units) {
    for (const Container& container : unit.containers) {
      const PlacedContainer& placed = layout_.containers[next++];
      if (placed.role != ContainerRole::kVertex && placed.role != ContainerRole::kInstance) {
        continue;
      }
      Json fields = Json::array();
      for (size_t i = 0; i < placed.fields.size(); ++i) {
        fields.push_back({{"name", container.fields[i].name},
                          {"offset", placed.fields[i].offset},
                          {"size", placed.fields[i].size},
                          {"format", ItemFormatText(container.fields[i].format)},
                          {"location", placed.fields[i].location},
                          {"count", placed.fields[i].location_count}});
      }
      json["vertex_buffers"].push_back(
          {{"name", placed.name},
           {"binding", placed.binding},
           {"rate", placed.role == ContainerRole::kInstance ? "instance" : "vertex"},
           {"size", placed.size},
           {"fields", std::move(fields)}});
    }
  }
}

// Optional members are left out where a varying does not have them.
Json Reflection::Varyings(const std::vector<PlacedVarying>& varyings) const {
  Json rows = Json::array();
  for (const PlacedVarying& varying : varyings) {
    Json row = {{"name", varying.path}, {"type", TypeText(types_, varying.type)}};
    if (varying.location) {
      row["location"] = *varying.location;
      row["count"] = varying.count;
    }
    if (!varying.builtin.empty()) {
      row["builtin"] = varying.builtin;
    }
    if (!varying.semantic.empty()) {
      row["semantic"] = varying.semantic;
      row["semantic_index"] = varying.semantic_index;
    }
    if (!varying.interpolation.empty()) {
      row["interpolation"] = varying.interpolation;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string ReflectionJson(const Program& program, const ProgramLayout& layout, ByteLayouts& bytes,
                           const std::vector<ParameterUsage>& usage) {
  return Reflection(program, layout, bytes).Run(usage).dump(2) + "\n";
}

// The bytes of layout.proto, without a library for protobuf.
Bytes ReflectionBytes(const Program& program, const ProgramLayout& layout, ByteLayouts& bytes,
                      const std::vector<ParameterUsage>& usage) {
  return ReflectionWire(Reflection(program, layout, bytes).Run(usage));
}

// Entry points are left out: programs that differ only in what they read share a layout, and with
// it descriptor sets.
Hash128 LayoutHash(const Program& program, const ProgramLayout& layout, ByteLayouts& bytes) {
  // A copy, as the caller still needs the entry points.
  ProgramLayout interface = layout;
  interface.entries.clear();
  return CanonicalWriter("kiln.layout.interface.1").Text(1, Dump(program, interface, bytes)).Key();
}

}  // namespace kiln::layout
