// SPDX-License-Identifier: MIT
// The case file of the layout specification (layout.md 17): byte layouts of every rule set, and
// programs under policy `rpl` for the target `vulkan`.
#include <fstream>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/layout/assign.h"
#include "compiler/layout/attributes.h"
#include "compiler/layout/interface_writer.h"

namespace kiln::layout {
namespace {

using nlohmann::json;

const json& Cases() {
  static const json cases = [] {
    std::ifstream file(KILN_SOURCE_DIR "/tests/layout/layout_cases.json");
    return json::parse(file);
  }();
  return cases;
}

// --- section `layout` ---

// The spelling of the case file, as a type of the pool: "vec3<f32>[2]", "mat_r2c3<f32>", "L[]".
// The pool has no 64-bit scalars; `supported` turns false for those.
class CaseTypes {
 public:
  CaseTypes(ir::Pool& pool, const json& structs) : pool_(pool), structs_(structs) {}

  ir::TypeId Struct(const std::string& name, const json& fields) {
    std::vector<ir::ShapeMember> members;
    for (const json& field : fields) {
      const bool row_major = field.size() > 2;
      members.push_back({.name = pool_.InternText(field[0].get<std::string>()),
                         .type = Type(field[1].get<std::string>(), row_major)});
    }
    return pool_.InternStruct(name, members);
  }
  bool supported() const { return supported_; }

 private:
  ir::TypeId Type(const std::string& text, bool row_major) {
    if (const size_t open = text.find('['); open != std::string::npos) {
      const size_t close = text.find(']');
      const ir::TypeId item = Type(text.substr(0, open) + text.substr(close + 1), row_major);
      const std::string count = text.substr(open + 1, close - open - 1);
      return count.empty()
                 ? pool_.Intern({.kind = ir::TypeKind::kRuntimeArray, .element = item.value})
                 : pool_.Intern(ir::ArrayType(item, static_cast<uint32_t>(std::stoul(count))));
    }
    if (structs_.contains(text)) {
      return Struct(text, structs_[text]);
    }
    const size_t angle = text.find('<');
    const ir::Scalar scalar = ScalarOf(
        angle == std::string::npos ? text : text.substr(angle + 1, text.size() - angle - 2));
    if (text.starts_with("vec")) {
      return pool_.Vector(scalar, static_cast<uint32_t>(text[3] - '0'));
    }
    if (text.starts_with("mat_r")) {
      // Stored rows are laid out as the columns of the transposed matrix.
      const auto rows = static_cast<uint32_t>(text[5] - '0');
      const auto columns = static_cast<uint32_t>(text[7] - '0');
      return row_major ? pool_.Matrix(scalar, rows, columns) : pool_.Matrix(scalar, columns, rows);
    }
    return pool_.Vector(scalar, 1);
  }
  ir::Scalar ScalarOf(const std::string& text) {
    static const std::map<std::string, ir::Scalar> scalars = {{"f32", ir::Scalar::kF32},
                                                              {"u32", ir::Scalar::kU32},
                                                              {"i32", ir::Scalar::kS32},
                                                              {"bool", ir::Scalar::kBool},
                                                              {"f16", ir::Scalar::kF16}};
    const auto found = scalars.find(text);
    supported_ = supported_ && found != scalars.end();
    return found == scalars.end() ? ir::Scalar::kF32 : found->second;
  }

  ir::Pool& pool_;
  const json& structs_;
  bool supported_ = true;
};

// What the case file says about a type, made from our layouts.
class Described {
 public:
  Described(const ir::Pool& pool, TypeLayouts& types, Rules rules)
      : pool_(pool), types_(types), rules_(rules) {}

  json Block(ir::TypeId type) {
    const TypeLayout& layout = types_.Of(type, rules_);
    Members(type, "", 0);
    json block = {{"size", Size(layout)}, {"align", layout.alignment}, {"members", members_}};
    if (rules_ == Rules::kD3dCbuffer) {
      block["registers"] = RoundUp(layout.size, 16) / 16;
    }
    return block;
  }

 private:
  static json Size(const TypeLayout& layout) {
    return layout.unsized ? json("unsized") : json(layout.size);
  }
  void Members(ir::TypeId type, const std::string& prefix, uint64_t start) {
    const auto members = pool_.Members(type);
    for (size_t i = 0; i < members.size(); ++i) {
      const uint64_t offset = start + types_.Of(type, rules_).offsets[i];
      Member(members[i].type, prefix + std::string(pool_.Text(members[i].name)), offset);
    }
  }
  void Member(ir::TypeId type, std::string path, uint64_t offset) {
    const TypeLayout& layout = types_.Of(type, rules_);
    json member = {{"path", path}, {"offset", offset}, {"size", Size(layout)}};
    if (layout.stride != 0) {
      member["array_stride"] = layout.stride;
    }
    if (layout.matrix_stride != 0) {
      member["matrix_stride"] = layout.matrix_stride;
    }
    members_.push_back(member);
    while (pool_[type].kind == ir::TypeKind::kArray ||
           pool_[type].kind == ir::TypeKind::kRuntimeArray) {
      type = ir::TypeId{pool_[type].element};
      path += "[0]";
    }
    if (pool_[type].kind == ir::TypeKind::kStruct) {
      Members(type, path + ".", offset);
    }
  }

  const ir::Pool& pool_;
  TypeLayouts& types_;
  Rules rules_;
  json members_ = json::array();
};

TEST(LayoutCases, EveryRuleSet_HasTheNumbersOfTheSpecification) {
  int compared = 0;
  for (const json& item : Cases()["layout"]) {
    ir::Pool pool;
    CaseTypes written(pool, item["structs"]);
    const ir::TypeId block = written.Struct("block", item["fields"]);
    if (!written.supported()) {
      continue;
    }
    TypeLayouts types(pool);
    for (uint32_t i = 0; i < kRulesCount; ++i) {
      const auto rules = static_cast<Rules>(i);
      const std::string name(TraitsOf(rules).name);
      if (item["expect"].contains(name)) {
        EXPECT_EQ(Described(pool, types, rules).Block(block), item["expect"][name])
            << item["id"] << " " << name;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 34);
}

// --- section `rpl` ---

ir::ResourceSet SetOf(const std::string& text) {
  static const std::map<std::string, ir::ResourceSet> sets = {
      {"pass", ir::ResourceSet::kPass},
      {"material", ir::ResourceSet::kMaterial},
      {"object", ir::ResourceSet::kObject},
      {"shared", ir::ResourceSet::kShared}};
  return sets.at(text);
}

void Write(InterfaceWriter& writer, const json& decl) {
  static const std::map<std::string, ir::ContainerKind> containers = {
      {"vertex_attribute_container", ir::ContainerKind::kVertexAttributes},
      {"instanced_attribute_container", ir::ContainerKind::kInstanceAttributes},
      {"state_container", ir::ContainerKind::kState},
      {"color_output_container", ir::ContainerKind::kColorOutput}};
  const std::string kind = decl["kind"];
  const std::string name = decl["name"];
  std::vector<WrittenField> fields;
  for (const json& field : decl.value("fields", json::array())) {
    fields.push_back(
        {.type = field[1], .name = field[0], .pack = field.size() > 2 ? field[2] : ""});
  }
  const ir::ResourceSet set = SetOf(decl.value("set", "pass"));
  if (containers.contains(kind)) {
    writer.Container(containers.at(kind), name, fields);
  } else if (kind == "uniform_buffer") {
    writer.Buffer(ir::BufferKind::kUniform, set, name, fields);
  } else if (kind == "read_only_storage_buffer") {
    writer.Buffer(ir::BufferKind::kReadOnlyStorage, set, name, fields);
  } else if (kind == "push_constant") {
    writer.PushConstant(name, fields);
  } else if (kind == "sampler") {
    writer.Sampler(set, name);
  } else {
    const bool array = decl.contains("count");
    writer.Image(set, array ? fmt::format("{}[{}]", kind, decl["count"].get<int>()) : kind, name);
  }
}

class RplProgram {
 public:
  explicit RplProgram(const json& modules) {
    for (const json& module : modules) {
      for (const json& decl : module["decls"]) {
        Write(writer_, decl);
      }
      writer_.BeginModule();
    }
    writer_.SortByGroup();
    layout_ = Assign(writer_.variant(), target::Target{}, types_).value.value();
  }

  std::string Place(const ir::ClosedDecl& decl) const {
    if (decl.kind == ir::DeclKind::kPushConstant) {
      return "push";
    }
    const Placement& placement = layout_.PlacementOf(decl.decl);
    const ir::Type& type = pool_[decl.type];
    const bool array = decl.kind == ir::DeclKind::kImage && type.kind == ir::TypeKind::kArray;
    return fmt::format("set{}.{}{}", placement.set, placement.binding,
                       array ? fmt::format("[{}]", type.extent) : "");
  }
  json BlockOf(const ir::ClosedDecl& decl, bool with_offsets) {
    const Block& block = layout_.BlockOf(decl.decl);
    json described = {{"rules", TraitsOf(block.rules).name}, {"main_size", block.main_size}};
    if (block.tail_item_size != 0) {
      described["tail_offset"] = block.tail_offset;
      described["tail_stride"] = block.tail_item_size;
    }
    if (with_offsets) {
      described["offsets"] = types_.Of(decl.type, block.rules).offsets;
    }
    return described;
  }
  json VertexBuffers() const {
    json buffers = json::array();
    for (const VertexSource& source : layout_.vertex_sources) {
      buffers.push_back({{"name", NameOf(source.container)},
                         {"binding", source.binding},
                         {"rate", source.per_instance ? "instance" : "vertex"},
                         {"size", source.stride},
                         {"fields", Attributes(source)}});
    }
    return buffers;
  }
  json Locations(ir::ContainerKind kind) const {
    json locations = json::object();
    for (const ir::ClosedDecl* decl : variant().interface) {
      if (decl->kind == ir::DeclKind::kContainer && decl->container() == kind) {
        for (const ir::ClosedMember& field : decl->members) {
          locations[std::string(pool_.Text(field.name))] = layout_.LocationOf(field.member);
        }
      }
    }
    return locations;
  }
  const ir::ClosedVariant& variant() const { return writer_.variant(); }
  std::string NameOf(const ir::ClosedDecl& decl) const {
    return std::string(pool_.Text(decl.name));
  }

 private:
  std::string NameOf(ir::DeclId id) const {
    for (const ir::ClosedDecl* decl : variant().interface) {
      if (decl->decl == id) {
        return NameOf(*decl);
      }
    }
    return "?";
  }
  json Attributes(const VertexSource& source) const {
    const ir::ClosedDecl& container = writer_.Named(NameOf(source.container));
    json fields = json::array();
    for (size_t i = 0; i < source.attributes.size(); ++i) {
      const Attribute& attribute = source.attributes[i];
      const uint32_t rows = pool_[container.members[i].type].rows;
      fields.push_back({{"name", pool_.Text(container.members[i].name)},
                        {"offset", attribute.offset},
                        {"size", attribute.location_count * rows * ItemSize(attribute.format)},
                        {"format", ItemFormatText(attribute.format)},
                        {"location", attribute.location},
                        {"count", attribute.location_count}});
    }
    return fields;
  }

  ir::Pool pool_;
  InterfaceWriter writer_{pool_};
  TypeLayouts types_{pool_};
  Layout layout_;
};

TEST(LayoutCases, PolicyRpl_HasTheNumbersOfTheSpecification) {
  int programs = 0;
  for (const json& item : Cases()["rpl"]) {
    RplProgram program(item["modules"]);
    const json& expect = item["expect"]["vulkan"];
    json found = json::object();
    for (const ir::ClosedDecl* decl : program.variant().interface) {
      const std::string name = program.NameOf(*decl);
      if (decl->kind != ir::DeclKind::kContainer) {
        found["bindings"][name] = program.Place(*decl);
      }
      if (decl->kind == ir::DeclKind::kBuffer || decl->kind == ir::DeclKind::kPushConstant) {
        found["blocks"][name] = program.BlockOf(*decl, expect["blocks"][name].contains("offsets"));
      }
    }
    for (const auto& [key, kind] : {std::pair("state", ir::ContainerKind::kState),
                                    std::pair("color", ir::ContainerKind::kColorOutput)}) {
      if (expect.contains(key)) {
        found[key] = program.Locations(kind);
      }
    }
    if (expect.contains("vertex_buffers")) {
      found["vertex_buffers"] = program.VertexBuffers();
    }
    EXPECT_EQ(found, expect) << item["id"];
    ++programs;
  }
  EXPECT_EQ(programs, 2);
}

}  // namespace
}  // namespace kiln::layout
