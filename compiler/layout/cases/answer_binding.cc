// SPDX-License-Identifier: MIT
// Section `binding`: a program under policy first_fit, on every target.
#include <set>
#include <string>
#include <string_view>

#include "compiler/layout/cases/answers.h"
#include "compiler/layout/cases/case_program.h"
#include "compiler/layout/cases/records.h"
#include "compiler/layout/dump.h"

namespace kiln::layout {
namespace {

// Appended as they come, because looking each up first takes time in the square of their number;
// of paths that units and imports share, the first stays.
Json DescribeBindings(Platform platform, const ProgramLayout& layout) {
  Json::object_t bindings;
  std::set<std::string_view> known;
  const auto add = [&](std::string_view path, const std::string& place) {
    if (known.insert(path).second) {
      bindings.emplace_back(std::string(path), place);
    }
  };
  if (layout.globals) {
    add("<globals>", PlaceText(platform, layout.globals->place));
  }
  for (const PlacedParameter& parameter : layout.parameters) {
    if (parameter.block && parameter.spaces) {
      add(parameter.name, PlaceText(platform, *parameter.spaces));
    }
    for (const PlacedLeaf& leaf : parameter.leaves) {
      add(leaf.path, PlacesText(platform, leaf));
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
