// SPDX-License-Identifier: MIT
// Invocations together: quads of fragments, workgroups of a dispatch.
#include <algorithm>
#include <array>
#include <numeric>

#include "compiler/base/check.h"
#include "compiler/ir/typing/typing.h"
#include "tests/support/interpreter_run.h"

namespace kiln::oracle {
namespace {

using running::EntryOf;
using running::Invocation;
using running::Team;
using Triple = std::array<uint32_t, 3>;

uint32_t CountOf(const Triple& size) { return size[0] * size[1] * size[2]; }
Triple PositionOf(uint32_t index, const Triple& size) {
  return {index % size[0], index / size[0] % size[1], index / size[0] / size[1]};
}

// Orders of `count` things that differ in who is first, last, and before whom.
std::vector<size_t> OrderOf(uint32_t number, size_t count) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (number == 1) {
    std::ranges::reverse(order);
  } else if (number == 2) {
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count / 3), order.end());
  }
  return order;
}
constexpr uint32_t kOrders = 3;

Inputs InputsOf(const Dispatch& dispatch, uint32_t group, uint32_t member) {
  const Triple at = PositionOf(group, dispatch.groups);
  const Triple local = PositionOf(member, dispatch.workgroup_size);
  Triple global{};
  for (size_t i = 0; i < global.size(); ++i) {
    global[i] = at[i] * dispatch.workgroup_size[i] + local[i];
  }
  Inputs inputs;
  inputs.stage[ir::StageVariable::kGlobalId] = ExactValue(global);
  inputs.stage[ir::StageVariable::kLocalId] = ExactValue(local);
  inputs.stage[ir::StageVariable::kLocalIndex] = ExactValue(std::span(&member, 1));
  inputs.stage[ir::StageVariable::kWorkgroupId] = ExactValue(at);
  inputs.stage[ir::StageVariable::kWorkgroupCount] = ExactValue(dispatch.groups);
  return inputs;
}

std::string RunGroup(const ir::SpecialisedProgram& variant, const Dispatch& dispatch,
                     uint32_t group, uint32_t order, Surroundings& around) {
  const ir::EntryRef& entry = EntryOf(variant, ir::Stage::kCompute);
  const uint32_t count = CountOf(dispatch.workgroup_size);
  Team team(count);
  std::vector<std::string> undecided(count);
  team.Run(OrderOf(order, count), [&](size_t member) {
    undecided[member] =
        Invocation(variant, entry, around, InputsOf(dispatch, group, static_cast<uint32_t>(member)),
                   {.team = &team, .member = member})
            .Run()
            .undecided;
  });
  const auto why =
      std::ranges::find_if(undecided, [](const std::string& text) { return !text.empty(); });
  return why == undecided.end() ? "" : *why;
}

// What differs between two orders is open.
void Open(Value& value, const Value& other) {
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i].bits != other[i].bits || value[i].error != other[i].error) {
      value[i] = {};
    }
  }
}

bool AsksForDerivatives(const ir::SpecialisedRegion& region) {
  return region.uses_implicit_lod || std::ranges::any_of(region.insts, [](const ir::Inst& inst) {
           if (inst.kind != ir::InstKind::kBuiltinCall) {
             return false;
           }
           const ir::Builtin builtin = inst.As<ir::BuiltinCallInst>().builtin;
           return builtin >= ir::Builtin::kDdx && builtin <= ir::Builtin::kDdyCoarse;
         });
}

}  // namespace

bool NeedsQuads(const ir::SpecialisedProgram& variant) {
  const ir::EntryRef& entry = EntryOf(variant, ir::Stage::kFragment);
  return std::ranges::any_of(entry.functions, [](const ir::FunctionRef* function) {
    return std::ranges::any_of(function->regions, [](const ir::RegionRef& region) {
      return AsksForDerivatives(*region.specialised);
    });
  });
}

std::vector<Outcome> InterpretQuad(const ir::SpecialisedProgram& variant, Surroundings& around,
                                   std::span<const Inputs, 4> inputs) {
  const ir::EntryRef& entry = EntryOf(variant, ir::Stage::kFragment);
  Team team(inputs.size());
  std::vector<Outcome> outcomes(inputs.size());
  team.Run(OrderOf(0, inputs.size()), [&](size_t member) {
    outcomes[member] =
        Invocation(variant, entry, around, inputs[member], {.team = &team, .member = member}).Run();
  });
  return outcomes;
}

std::string InterpretDispatch(const ir::SpecialisedProgram& variant, const Dispatch& dispatch,
                              Surroundings& around) {
  std::vector<Surroundings> after(kOrders, around);
  for (uint32_t order = 0; order < kOrders; ++order) {
    for (const size_t group : OrderOf(order, CountOf(dispatch.groups))) {
      std::string why =
          RunGroup(variant, dispatch, static_cast<uint32_t>(group), order, after[order]);
      if (!why.empty()) {
        return why;
      }
    }
  }
  around = std::move(after[0]);
  for (uint32_t order = 1; order < kOrders; ++order) {
    for (auto& [name, value] : around.globals) {
      Open(value, after[order].globals.at(name));
    }
    for (auto& [name, image] : around.images) {
      Open(image.texels, after[order].images.at(name).texels);
    }
  }
  return "";
}

}  // namespace kiln::oracle
