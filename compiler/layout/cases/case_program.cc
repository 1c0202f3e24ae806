// SPDX-License-Identifier: MIT
#include "compiler/layout/cases/case_program.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "compiler/layout/cases/records.h"
#include "compiler/layout/engine/engine.h"

namespace kiln::layout {
namespace {

Error Wrong(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = {}};
}

// The order of the four sets of RPL is their number.
// Sets are named in the files as they are in RPL.
Result<uint32_t> SetOf(const Json& decl) {
  KILN_TRY(const std::string* text, TextOf(decl, "set"));
  constexpr std::string_view kSets[] = {"pass", "material", "object", "shared"};
  for (uint32_t set = 0; set < 4; ++set) {
    if (kSets[set] == *text) {
      return set;
    }
  }
  return Wrong(fmt::format("'{}' is no set", Shortened(*text)));
}

// A register may have a space, a name, or both; what is not written is left to the layout.
Result<void> ReadRegister(const Json& written, Parameter& parameter) {
  KILN_TRY(const std::optional<uint32_t> space, NumberOf(written, "space"));
  RegisterBinding binding{.space = space};
  if (Has(written, "reg")) {
    KILN_TRY(const std::string* text, TextOf(written, "reg"));
    binding.text = *text;
  }
  parameter.registers.push_back(binding);
  return {};
}

}  // namespace

// Structs come first, as everything else names them.
Result<void> CaseProgram::Read(const Json& item) {
  if (Has(item, "structs")) {
    KILN_TRY_VOID(written_.ReadStructs(item["structs"]));
  }
  // Imports come behind the units, as their places do.
  KILN_TRY_VOID(ReadUnits(item, "units", false));
  return ReadUnits(item, "imports", true);
}

// Nothing of the types is made anew; the caches of `bytes_` serve all platforms.
ProgramLayout CaseProgram::LayOutFor(Platform platform) {
  program_.platform = platform;
  return LayOut(program_, types_, bytes_);
}

// A unit is a file with its parameters. Those of imports are numbered as well, but belong to
// another program.
Result<void> CaseProgram::ReadUnits(const Json& item, const std::string& key, bool imported) {
  if (!Has(item, key)) {
    return {};
  }
  KILN_TRY(const Json* units, ListOf(item, key));
  for (const Json& written : *units) {
    KILN_TRY(const std::string* name, TextOf(written, "name"));
    KILN_TRY(const Json* parameters, ListOf(written, "params"));
    Unit unit{.name = *name, .imported = imported};
    for (const Json& parameter : *parameters) {
      KILN_TRY(Parameter read, ReadParameter(parameter));
      unit.parameters.push_back(std::move(read));
    }
    program_.units.push_back(std::move(unit));
  }
  return {};
}

// Type and name are required; everything else says where the author wants it to be.
Result<Parameter> CaseProgram::ReadParameter(const Json& written) {
  KILN_TRY(const std::string* name, TextOf(written, "name"));
  KILN_TRY(const std::string* type_text, TextOf(written, "type"));
  KILN_TRY(const TypeId type, written_.Read(*type_text));
  Parameter parameter{.name = *name, .type = type};
  // `"push": false` may be written out by a tool that writes every member.
  if (Has(written, "push") && written["push"] != Json(false)) {
    parameter.role = Role::kPush;
  }
  if (Has(written, "d3d")) {
    const Json& d3d = written["d3d"];
    // One register or a list of them: a parameter of several kinds of resources needs one for each.
    if (d3d.is_array()) {
      for (const Json& one : d3d) {
        KILN_TRY_VOID(ReadRegister(one, parameter));
      }
    } else {
      KILN_TRY_VOID(ReadRegister(d3d, parameter));
    }
  }
  if (Has(written, "vk")) {
    KILN_TRY(const std::optional<uint32_t> binding, NumberOf(written["vk"], "binding"));
    KILN_TRY(const std::optional<uint32_t> set, NumberOf(written["vk"], "set"));
    parameter.slot = {.index = binding, .space = set};
  }
  return parameter;
}

// --- modules ---

// Modules are described by groups of RPL, and each group has its own type of resource; the case of
// `CaseProgram` writes the type itself.
Result<void> CaseModules::Read(const Json& item) {
  program_.policy = Policy::kRpl;
  KILN_TRY(const Json* modules, ListOf(item, "modules"));
  for (const Json& module : *modules) {
    KILN_TRY(const std::string* name, TextOf(module, "name"));
    KILN_TRY(const Json* decls, ListOf(module, "decls"));
    Unit unit{.name = *name};
    for (const Json& decl : *decls) {
      KILN_TRY_VOID(ReadDecl(decl, unit));
    }
    program_.units.push_back(std::move(unit));
  }
  return {};
}

ProgramLayout CaseModules::LayOutFor(Platform platform) {
  program_.platform = platform;
  return LayOut(program_, types_, bytes_);
}

// The keyword of RPL is the kind.
Result<void> CaseModules::ReadDecl(const Json& decl, Unit& unit) {
  KILN_TRY(const std::string* kind, TextOf(decl, "kind"));
  const std::optional<RplGroup> group = GroupOfKeyword(*kind);
  if (!group) {
    return Wrong(fmt::format("'{}' is no kind of declaration", Shortened(*kind)));
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
  // `at` cannot fail: ReadDecl has found the keyword in the group of containers.
  Container container{.name = *name, .role = roles.at(decl["kind"].get_ref<const std::string&>())};
  for (const Json& field : *fields) {
    const std::string& type_text = field[1].get_ref<const std::string&>();
    KILN_TRY(const TypeId type, written_.ReadRpl(type_text));
    // Containers are packed fields of vectors and matrices; arrays and structs have no attribute
    // format.
    const TypeKind kind = types_[type].kind;
    if (kind != TypeKind::kVector && kind != TypeKind::kMatrix) {
      return Wrong(fmt::format("'{}' cannot be in a container", Shortened(type_text)));
    }
    // The format is that of the scalar unless the author has packed the field.
    PackedField packed{.name = field[0].get_ref<const std::string&>(),
                       .type = type,
                       .format = DefaultFormat(types_[type].scalar)};
    if (field.size() > 2) {
      const std::string& pack = field[2].get_ref<const std::string&>();
      const std::optional<ItemFormat> format = FindItemFormat(pack);
      if (!format) {
        return Wrong(fmt::format("'{}' is no pack format", Shortened(pack)));
      }
      packed.format = *format;
    }
    container.fields.push_back(packed);
  }
  unit.containers.push_back(std::move(container));
  return {};
}

// The fields of a block are a struct without a name of its own; it has that of the block.
Result<TypeId> CaseModules::ReadContent(const Json& decl) {
  KILN_TRY(const std::string* name, TextOf(decl, "name"));
  std::vector<Member> members;
  if (Has(decl, "fields")) {
    KILN_TRY_VOID(CheckFields(decl["fields"]));
    for (const Json& field : decl["fields"]) {
      KILN_TRY(const TypeId type, written_.ReadRpl(field[1].get_ref<const std::string&>()));
      members.push_back({.name = field[0].get_ref<const std::string&>(), .type = type});
    }
  }
  return types_.Struct(*name, members);
}

// Each group of RPL becomes the kind of parameter that the layout knows; what the shader reads of
// it does not matter here.
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
    // The type is named by its keyword: RPL has no names for types of buffers.
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
  // A number makes an array of the resource, of images and buffers alike.
  KILN_TRY(const std::optional<uint32_t> count, NumberOf(decl, "count"));
  if (count) {
    parameter.type = types_.Array(parameter.type, *count);
  }
  return parameter;
}

}  // namespace kiln::layout
