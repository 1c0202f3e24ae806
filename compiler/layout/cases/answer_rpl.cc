// SPDX-License-Identifier: MIT
// Section `rpl`: modules under policy rpl, on Vulkan and WebGPU.
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "compiler/layout/cases/answers.h"
#include "compiler/layout/cases/records.h"
#include "compiler/layout/dump.h"
#include "compiler/layout/lay_out.h"
#include "compiler/layout/order.h"

namespace kiln::layout {
namespace {

constexpr Platform kRplPlatforms[] = {Platform::kVulkan, Platform::kWebgpu};

Error Wrong(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = {}};
}

Result<uint32_t> SetOf(const Json& decl) {
  KILN_TRY(const std::string* text, TextOf(decl, "set"));
  constexpr std::string_view kSets[] = {"pass", "material", "object", "shared"};
  for (uint32_t set = 0; set < 4; ++set) {
    if (kSets[set] == *text) {
      return set;
    }
  }
  return Wrong(fmt::format("'{}' is no set", *text));
}

// The modules of a case, with their types. Texts are views of the case.
class CaseModules {
 public:
  Result<void> Read(const Json& item) {
    program_.policy = Policy::kRpl;
    KILN_TRY(const Json* modules, PartOf(item, "modules"));
    for (const Json& module : *modules) {
      KILN_TRY(const std::string* name, TextOf(module, "name"));
      KILN_TRY(const Json* decls, PartOf(module, "decls"));
      Unit unit{.name = *name};
      for (const Json& decl : *decls) {
        KILN_TRY_VOID(ReadDecl(decl, unit));
      }
      program_.units.push_back(std::move(unit));
    }
    return {};
  }

  ProgramLayout LayOutFor(Platform platform) {
    program_.platform = platform;
    return LayOut(program_, types_, bytes_);
  }
  const Program& program() const { return program_; }
  ByteLayouts& bytes() { return bytes_; }

 private:
  Result<void> ReadDecl(const Json& decl, Unit& unit);
  Result<void> ReadContainer(const Json& decl, Unit& unit);
  Result<Parameter> ReadParameter(const Json& decl, RplGroup group);
  Result<TypeId> ReadContent(const Json& decl);

  Types types_{Spelling::kRpl};
  CaseTypes written_{types_};
  ByteLayouts bytes_{types_};
  Program program_;
};

Result<void> CaseModules::ReadDecl(const Json& decl, Unit& unit) {
  KILN_TRY(const std::string* kind, TextOf(decl, "kind"));
  const std::optional<RplGroup> group = GroupOfKeyword(*kind);
  if (!group) {
    return Wrong(fmt::format("'{}' is no kind of declaration", *kind));
  }
  if (*group == RplGroup::kContainers) {
    return ReadContainer(decl, unit);
  }
  KILN_TRY(Parameter parameter, ReadParameter(decl, *group));
  unit.parameters.push_back(std::move(parameter));
  return {};
}

Result<void> CaseModules::ReadContainer(const Json& decl, Unit& unit) {
  const std::map<std::string_view, ContainerRole> roles = {
      {"vertex_attribute_container", ContainerRole::kVertex},
      {"instanced_attribute_container", ContainerRole::kInstance},
      {"state_container", ContainerRole::kState},
      {"color_output_container", ContainerRole::kColor}};
  KILN_TRY(const std::string* name, TextOf(decl, "name"));
  KILN_TRY(const Json* fields, PartOf(decl, "fields"));
  KILN_TRY_VOID(CheckFields(*fields));
  Container container{.name = *name, .role = roles.at(decl["kind"].get_ref<const std::string&>())};
  for (const Json& field : *fields) {
    const std::string& type_text = field[1].get_ref<const std::string&>();
    KILN_TRY(const TypeId type, written_.ReadRpl(type_text));
    const TypeKind kind = types_[type].kind;
    if (kind != TypeKind::kVector && kind != TypeKind::kMatrix) {
      return Wrong(fmt::format("'{}' cannot be in a container", type_text));
    }
    PackedField packed{.name = field[0].get_ref<const std::string&>(),
                       .type = type,
                       .format = DefaultFormat(types_[type].scalar)};
    if (field.size() > 2) {
      const std::string& pack = field[2].get_ref<const std::string&>();
      const std::optional<ItemFormat> format = FindItemFormat(pack);
      if (!format) {
        return Wrong(fmt::format("'{}' is no pack format", pack));
      }
      packed.format = *format;
    }
    container.fields.push_back(packed);
  }
  unit.containers.push_back(std::move(container));
  return {};
}

Result<TypeId> CaseModules::ReadContent(const Json& decl) {
  KILN_TRY(const std::string* name, TextOf(decl, "name"));
  std::vector<Member> members;
  if (decl.contains("fields")) {
    KILN_TRY_VOID(CheckFields(decl["fields"]));
    for (const Json& field : decl["fields"]) {
      KILN_TRY(const TypeId type, written_.ReadRpl(field[1].get_ref<const std::string&>()));
      members.push_back({.name = field[0].get_ref<const std::string&>(), .type = type});
    }
  }
  return types_.Struct(*name, members);
}

Result<Parameter> CaseModules::ReadParameter(const Json& decl, RplGroup group) {
  KILN_TRY(const std::string* name, TextOf(decl, "name"));
  KILN_TRY(const std::string* kind, TextOf(decl, "kind"));
  Parameter parameter{.name = *name, .group = static_cast<uint8_t>(group)};
  const bool push = group == RplGroup::kPushConstants;
  if (push) {
    parameter.role = Role::kPush;
  } else {
    KILN_TRY(const uint32_t set, SetOf(decl));
    parameter.home = set;
  }
  const bool reads = group == RplGroup::kReadOnlyBuffers;
  if (push || group == RplGroup::kUniformBuffers) {
    KILN_TRY(const TypeId content, ReadContent(decl));
    parameter.type = types_.ConstantBuffer(*kind, content);
  } else if (reads || group == RplGroup::kReadWriteBuffers) {
    KILN_TRY(const TypeId content, ReadContent(decl));
    parameter.type =
        types_.StorageBuffer(reads ? ResourceClass::kRead : ResourceClass::kWrite, *kind, content);
  } else if (group == RplGroup::kSamplers) {
    parameter.type = types_.Resource(ResourceClass::kSampler, *kind);
  } else {
    const bool writes = group == RplGroup::kStorageImages;
    parameter.type = types_.Resource(writes ? ResourceClass::kWrite : ResourceClass::kRead, *kind);
  }
  KILN_TRY(const std::optional<uint32_t> count, NumberOf(decl, "count"));
  if (count) {
    parameter.type = types_.Array(parameter.type, *count);
  }
  return parameter;
}

Json DescribeBlock(const PlacedLeaf& leaf, ByteLayouts& bytes) {
  const TypeLayout& layout = bytes.Of(leaf.content, *leaf.rules);
  Json described = {{"rules", TraitsOf(*leaf.rules).name}};
  if (layout.unsized) {
    described["offsets"] = layout.offsets;
    described["tail_offset"] = layout.size;
    described["tail_stride"] = layout.tail_stride;
  }
  described["main_size"] = MainSize(layout);
  return described;
}

Json DescribeVertexBuffer(const PlacedContainer& placed, const Container& container) {
  Json fields = Json::array();
  for (size_t i = 0; i < placed.fields.size(); ++i) {
    const PackedPlace& place = placed.fields[i];
    fields.push_back({{"name", container.fields[i].name},
                      {"offset", place.offset},
                      {"size", place.size},
                      {"format", ItemFormatText(container.fields[i].format)},
                      {"location", place.location},
                      {"count", place.location_count}});
  }
  return {{"name", placed.name},
          {"binding", placed.binding},
          {"rate", placed.role == ContainerRole::kInstance ? "instance" : "vertex"},
          {"size", placed.size},
          {"fields", std::move(fields)}};
}

// The parts that Vulkan's answer has besides bindings; each only if there is something in it.
void AddContainers(const Program& program, const ProgramLayout& layout, Json& described) {
  size_t next = 0;
  for (const Unit& unit : program.units) {
    for (const Container& container : unit.containers) {
      const PlacedContainer& placed = layout.containers[next++];
      if (placed.role == ContainerRole::kVertex || placed.role == ContainerRole::kInstance) {
        described["vertex_buffers"].push_back(DescribeVertexBuffer(placed, container));
        continue;
      }
      Json& part = described[placed.role == ContainerRole::kState ? "state" : "color"];
      for (size_t i = 0; i < placed.fields.size(); ++i) {
        part[std::string(container.fields[i].name)] = placed.fields[i].location;
      }
    }
  }
}

Json Describe(const Program& program, const ProgramLayout& layout, ByteLayouts& bytes) {
  if (!layout.ok()) {
    return DescribeErrors(layout);
  }
  Json bindings = Json::object();
  Json blocks = Json::object();
  for (const PlacedParameter& parameter : layout.parameters) {
    for (const PlacedLeaf& leaf : parameter.leaves) {
      bindings[leaf.path] = PlacesText(program.platform, leaf);
      if (leaf.content.valid()) {
        blocks[leaf.path] = DescribeBlock(leaf, bytes);
      }
    }
  }
  Json described = Json::object();
  if (!bindings.empty()) {
    described["bindings"] = std::move(bindings);
  }
  if (program.platform == Platform::kVulkan) {
    if (!blocks.empty()) {
      described["blocks"] = std::move(blocks);
    }
    AddContainers(program, layout, described);
  }
  return described;
}

}  // namespace

Result<Json> AnswerRpl(const Json& item) {
  CaseModules modules;
  KILN_TRY_VOID(modules.Read(item));
  Json expect = Json::object();
  for (const Platform platform : kRplPlatforms) {
    const ProgramLayout layout = modules.LayOutFor(platform);
    Json described = Describe(modules.program(), layout, modules.bytes());
    if (!described.empty()) {
      expect[std::string(PlatformName(platform))] = std::move(described);
    }
  }
  return expect;
}

Result<std::string> DumpRpl(const Json& item) {
  CaseModules modules;
  KILN_TRY_VOID(modules.Read(item));
  std::string text;
  for (const Platform platform : kRplPlatforms) {
    const ProgramLayout layout = modules.LayOutFor(platform);
    text += Dump(modules.program(), layout, modules.bytes());
  }
  return text;
}

}  // namespace kiln::layout
