// SPDX-License-Identifier: MIT
#include "compiler/resolve/unreached_bindings.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/threads/stop.h"

namespace kiln::resolve {
namespace {

using Binding = std::array<uint32_t, 2>;  // group, number

std::optional<Binding> BindingOf(const Program& program, const ir::SpecialisedDecl& decl) {
  if (program.module(program.ModuleOf(decl.decl)).header.language != ir::Language::kWgsl) {
    return std::nullopt;
  }
  for (const ir::Attribute& attribute : decl.attributes) {
    if (attribute.key == ir::AttributeKey::kBinding) {
      return Binding{attribute.b, attribute.a};
    }
  }
  return std::nullopt;
}

// Declarations that functions of any entry point mention.
FlatMap<uint32_t, bool> Reached(const ir::SpecialisedProgram& variant) {
  FlatMap<uint32_t, bool> reached;
  for (const ir::EntryRef& entry : variant.entries) {
    for (const ir::FunctionRef* function : entry.functions) {
      CheckStop();
      for (const ir::RegionRef& region : function->regions) {
        for (const ir::Mention& mention : region.specialised->mentions) {
          reached.Insert(mention.decl.value, true);
        }
      }
    }
  }
  return reached;
}

}  // namespace

// Nearly no module shares a binding, and then a sort of the bindings is all that is done.
bool LeaveOutUnreachedBindings(const Program& program, ir::SpecialisedProgram& variant) {
  std::vector<Binding> bindings;
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    if (const std::optional<Binding> binding = BindingOf(program, *decl)) {
      bindings.push_back(*binding);
    }
  }
  std::ranges::sort(bindings);
  if (std::ranges::adjacent_find(bindings) == bindings.end()) {
    return false;
  }
  const FlatMap<uint32_t, bool> reached = Reached(variant);
  return std::erase_if(variant.interface, [&](const ir::SpecialisedDecl* decl) {
           const std::optional<Binding> binding = BindingOf(program, *decl);
           return binding.has_value() && !reached.Contains(decl->decl.value) &&
                  std::ranges::equal_range(bindings, *binding).size() > 1;
         }) != 0;
}

}  // namespace kiln::resolve
