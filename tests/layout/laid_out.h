// SPDX-License-Identifier: MIT
// A case that was laid out for one target, in the forms in which properties look at it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "compiler/layout/cases/case_program.h"
#include "compiler/layout/cases/records.h"
#include "compiler/layout/reflection/dump.h"

namespace kiln::layout {

template <class Program>
struct LaidOut {
  Program program;
  ProgramLayout layout;
  std::string dump;
  std::map<std::string, std::string> places;  // of every path: "t0[2],space1"
};

// Null if the case has errors on the target. `item` must outlive the result.
template <class Program>
std::unique_ptr<LaidOut<Program>> LayOutCase(const Json& item, Platform platform) {
  auto laid = std::make_unique<LaidOut<Program>>();
  if (!laid->program.Read(item).ok()) {
    return nullptr;
  }
  laid->layout = laid->program.LayOutFor(platform);
  if (!laid->layout.ok()) {
    return nullptr;
  }
  laid->dump = Dump(laid->program.program(), laid->layout, laid->program.bytes());
  if (laid->layout.globals) {
    laid->places["<globals>"] = PlaceText(platform, laid->layout.globals->place);
  }
  for (const PlacedParameter& parameter : laid->layout.parameters) {
    if (parameter.block && parameter.spaces) {
      laid->places[std::string(parameter.name)] = PlaceText(platform, *parameter.spaces);
    }
    for (const PlacedLeaf& leaf : parameter.leaves) {
      laid->places[leaf.path] = PlacesText(platform, leaf);
    }
  }
  return laid;
}

using LaidProgram = LaidOut<CaseProgram>;
using LaidModules = LaidOut<CaseModules>;

}  // namespace kiln::layout
