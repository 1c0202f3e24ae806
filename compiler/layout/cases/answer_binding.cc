// SPDX-License-Identifier: MIT
#include "compiler/layout/cases/answer_binding.h"

#include <string>
#include <utility>

#include "compiler/layout/cases/case_program.h"
#include "compiler/layout/cases/records.h"
#include "compiler/layout/reflection/dump.h"

namespace kiln::layout {
namespace {

// A flat list by path, in the order of the declarations: a case file then shows a moved binding as
// one changed line.
Json DescribeBindings(Platform platform, const ProgramLayout& layout) {
  Members bindings;
  if (layout.globals) {
    // In angle brackets, since no parameter can have such a name.
    bindings.Add("<globals>", PlaceText(platform, layout.globals->place));
  }
  for (const PlacedParameter& parameter : layout.parameters) {
    // A block that takes whole spaces has a place of its own besides the places of its leaves.
    if (parameter.block && parameter.spaces) {
      bindings.Add(parameter.name, PlaceText(platform, *parameter.spaces));
    }
    for (const PlacedLeaf& leaf : parameter.leaves) {
      bindings.Add(leaf.path, PlacesText(platform, leaf));
    }
  }
  return std::move(bindings).Take();
}

Json Describe(Platform platform, const ProgramLayout& layout, ByteLayouts& bytes) {
  // With errors there are no places: the answer is the errors alone.
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

// One program is read once and laid out for each platform, so the types are shared and only the
// rules differ.
Result<Json> AnswerBinding(const Json& item) {
  CaseProgram program;
  KILN_TRY_VOID(program.Read(item));
  // All platforms answer, also those that a case was not written for: the file has one shape, and a
  // change of shared code shows wherever it reaches.
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
  // Without a mark for each platform: a dump says which one it is of.
  std::string text;
  for (const Platform platform : kPlatforms) {
    const ProgramLayout layout = program.LayOutFor(platform);
    text += Dump(program.program(), layout, program.bytes());
  }
  return text;
}

}  // namespace kiln::layout
