// SPDX-License-Identifier: MIT
// Section `binding`: a program under policy first_fit, on every target.
#include <fmt/format.h>

#include "compiler/layout/cases/answers.h"
#include "compiler/layout/cases/records.h"
#include "compiler/layout/dump.h"
#include "compiler/layout/lay_out.h"

namespace kiln::layout {
namespace {

// A program of a case, with its types. Texts are views of the case.
class CaseProgram {
 public:
  Result<void> Read(const Json& item) {
    KILN_TRY_VOID(
        written_.ReadStructs(item.contains("structs") ? item["structs"] : Json::object()));
    KILN_TRY_VOID(ReadUnits(item, "units", false));
    return ReadUnits(item, "imports", true);
  }

  ProgramLayout LayOutFor(Platform platform) {
    program_.platform = platform;
    return LayOut(program_, types_, bytes_);
  }
  const Program& program() const { return program_; }
  ByteLayouts& bytes() { return bytes_; }

 private:
  Result<void> ReadUnits(const Json& item, const std::string& key, bool imported) {
    if (!item.contains(key)) {
      return {};
    }
    for (const Json& written : item[key]) {
      KILN_TRY(const std::string* name, TextOf(written, "name"));
      KILN_TRY(const Json* parameters, PartOf(written, "params"));
      Unit unit{.name = *name, .imported = imported};
      for (const Json& parameter : *parameters) {
        KILN_TRY(Parameter read, ReadParameter(parameter));
        unit.parameters.push_back(std::move(read));
      }
      program_.units.push_back(std::move(unit));
    }
    return {};
  }

  Result<Parameter> ReadParameter(const Json& written) {
    KILN_TRY(const std::string* name, TextOf(written, "name"));
    KILN_TRY(const std::string* type_text, TextOf(written, "type"));
    KILN_TRY(const TypeId type, written_.Read(*type_text));
    Parameter parameter{.name = *name, .type = type};
    if (written.contains("push") && written["push"] != Json(false)) {
      parameter.role = Role::kPush;
    }
    if (written.contains("d3d")) {
      const Json& d3d = written["d3d"];
      if (d3d.is_array()) {
        for (const Json& one : d3d) {
          KILN_TRY_VOID(ReadRegister(one, parameter));
        }
      } else {
        KILN_TRY_VOID(ReadRegister(d3d, parameter));
      }
    }
    if (written.contains("vk")) {
      KILN_TRY(const std::optional<uint32_t> binding, NumberOf(written["vk"], "binding"));
      KILN_TRY(const std::optional<uint32_t> set, NumberOf(written["vk"], "set"));
      parameter.slot = {.index = binding, .space = set};
    }
    return parameter;
  }

  static Result<void> ReadRegister(const Json& written, Parameter& parameter) {
    KILN_TRY(const std::optional<uint32_t> space, NumberOf(written, "space"));
    RegisterBinding binding{.space = space};
    if (written.contains("reg")) {
      KILN_TRY(const std::string* text, TextOf(written, "reg"));
      binding.text = *text;
    }
    parameter.registers.push_back(binding);
    return {};
  }

  Types types_;
  CaseTypes written_{types_};
  ByteLayouts bytes_{types_};
  Program program_;
};

Json DescribeBindings(Platform platform, const ProgramLayout& layout) {
  Json bindings = Json::object();
  if (layout.globals) {
    bindings["<globals>"] = PlaceText(platform, layout.globals->place);
  }
  for (const PlacedParameter& parameter : layout.parameters) {
    if (parameter.spaces) {
      bindings[std::string(parameter.name)] = PlaceText(platform, *parameter.spaces);
    }
    for (const PlacedLeaf& leaf : parameter.leaves) {
      bindings[leaf.path] = PlacesText(platform, leaf);
    }
  }
  return bindings;
}

Json Describe(Platform platform, const ProgramLayout& layout, ByteLayouts& bytes) {
  if (!layout.ok()) {
    return DescribeErrors(layout);
  }
  Json described = {{"bindings", DescribeBindings(platform, layout)}};
  if (layout.globals) {
    const GlobalsBlock& globals = *layout.globals;
    described["globals_layout"] = {
        {"rules", TraitsOf(globals.rules).name},
        {"size", bytes.Of(globals.content, globals.rules).size},
        {"members", DescribeMembers(bytes, globals.content, globals.rules)}};
  }
  return described;
}

}  // namespace

Result<Json> AnswerBinding(const Json& item) {
  CaseProgram program;
  KILN_TRY_VOID(program.Read(item));
  Json expect = Json::object();
  for (const Platform platform : kPlatforms) {
    const ProgramLayout layout = program.LayOutFor(platform);
    expect[std::string(PlatformName(platform))] = Describe(platform, layout, program.bytes());
  }
  return expect;
}

Result<std::string> DumpBinding(const Json& item) {
  CaseProgram program;
  KILN_TRY_VOID(program.Read(item));
  std::string text;
  for (const Platform platform : kPlatforms) {
    const ProgramLayout layout = program.LayOutFor(platform);
    text += Dump(program.program(), layout, program.bytes());
  }
  return text;
}

}  // namespace kiln::layout
