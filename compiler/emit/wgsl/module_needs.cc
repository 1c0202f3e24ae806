// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/module_needs.h"

#include <algorithm>

#include "compiler/base/threads/stop.h"

namespace kiln::wgsl {
namespace {

template <class Row>
void AddOnce(const Row& row, std::vector<Row>& rows) {
  if (std::ranges::find(rows, row) == rows.end()) {
    rows.push_back(row);
  }
}

// Fields are known by direction, because a state field is an output of one stage and an input of
// the other. Resources are known with the elements that are used; of all but arrays of images that
// is element 0.
void AddVariable(const VariableUse& variable, ModuleNeeds& needs) {
  if (variable.direction == ir::Direction::kIn) {
    return AddOnce(variable.member, needs.inputs);
  }
  if (variable.direction == ir::Direction::kOut) {
    return AddOnce(variable.member, needs.outputs);
  }
  auto known = std::ranges::find(needs.resources, variable.decl, &ModuleNeeds::Elements::decl);
  if (known == needs.resources.end()) {
    known = needs.resources.insert(known, {.decl = variable.decl, .elements = {}});
  }
  // Ascending and each once, so that the order of use does not show.
  const auto place = std::ranges::lower_bound(known->elements, variable.element);
  if (place == known->elements.end() || *place != variable.element) {
    known->elements.insert(place, variable.element);
  }
}

void AddFunction(const FunctionObject& object, ModuleNeeds& needs) {
  for (const VariableUse& variable : object.needs.variables) {
    AddVariable(variable, needs);
  }
  for (const ir::TypeId type : object.needs.structs) {
    AddOnce(type, needs.structs);
  }
  for (const SpecialBits& special : object.needs.specials) {
    AddOnce(special, needs.specials);
  }
  // Constants that need a variable are named by marks in the text, and nowhere else.
  for (const Relocation& mark : object.body.marks) {
    if (mark.kind == MarkKind::kTable) {
      AddOnce(ir::ConstId{mark.id}, needs.tables);
    }
  }
  needs.helpers |= object.needs.helpers;
  needs.stage_variables |= object.needs.stage_variables;
  needs.half = needs.half || object.needs.half;
}

}  // namespace

// Lists are short, so they are searched in order.
bool ModuleNeeds::Uses(ir::MemberId field, ir::Direction direction) const {
  const std::vector<ir::MemberId>& fields = direction == ir::Direction::kIn ? inputs : outputs;
  return std::ranges::find(fields, field) != fields.end();
}

const ModuleNeeds::Elements* ModuleNeeds::Find(ir::DeclId resource) const {
  const auto found = std::ranges::find(resources, resource, &Elements::decl);
  return found == resources.end() ? nullptr : &*found;
}

// Functions come in the order of the entry point, callees first, so structs and constants are
// listed in an order that follows from the source alone.
void AddNeeds(const LiveEntry& entry, std::span<const AtomicDecl> atomics, ObjectTable& table,
              ModuleNeeds& needs) {
  for (const LiveFunction& function : entry.functions) {
    CheckStop();
    AddFunction(table.ObjectOf(*function.ref, atomics), needs);
    const ir::SpecialisedDecl& signature = *function.ref->signature;
    // Types of parameters and results stand in the head of the function, which is no part of its
    // text object.
    const auto add_type = [&](ir::TypeId type) {
      // Samplers and images are handed over as handles and are no members of anything.
      const ir::TypeKind kind = table.types().pool()[type].kind;
      if (kind != ir::TypeKind::kVoid && kind != ir::TypeKind::kSampler &&
          kind != ir::TypeKind::kImage) {
        table.types().AddStructs(type, needs.structs);
        needs.half = needs.half || table.types().HoldsHalf(type);
      }
    };
    add_type(signature.type);
    for (const ir::SpecialisedMember& parameter : signature.members) {
      add_type(parameter.type);
    }
  }
}

}  // namespace kiln::wgsl
