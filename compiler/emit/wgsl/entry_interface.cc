// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/entry_interface.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace kiln::wgsl {
namespace {

// How WGSL hands over each variable of a stage (spec/wgsl 2.4). Position stands twice: the vertex
// stage writes it, the fragment stage reads where it is.
struct StageRow {
  std::string_view builtin;
  std::string_view type;
  bool output;
};
// By StageVariable.
constexpr StageRow kStageRows[] = {
    {"@builtin(position)", "vec4<f32>", true},
    {"@builtin(vertex_index)", "u32", false},
    {"@builtin(instance_index)", "u32", false},
    {"@builtin(position)", "vec4<f32>", false},
    {"@builtin(front_facing)", "bool", false},
    {"@builtin(frag_depth)", "f32", true},
    {"@builtin(global_invocation_id)", "vec3<u32>", false},
    {"@builtin(local_invocation_id)", "vec3<u32>", false},
    {"@builtin(local_invocation_index)", "u32", false},
    {"@builtin(workgroup_id)", "vec3<u32>", false},
    {"@builtin(num_workgroups)", "vec3<u32>", false},
};
constexpr uint32_t kStageVariables = std::size(kStageRows);
static_assert(kStageVariables == static_cast<uint32_t>(ir::StageVariable::kWorkgroupCount) + 1);

// Integers must be flat between the stages; WebGPU refuses to interpolate them.
bool IsInteger(const ir::Type& type) {
  return type.scalar == ir::Scalar::kU32 || type.scalar == ir::Scalar::kS32;
}

// One field of a container as values that cross the edge. A matrix cannot cross it, so it goes
// column by column, each at the next location (spec/wgsl 2.3).
void AddField(const ir::SpecialisedDecl& decl, const ir::SpecialisedMember& member,
              const InterfaceInputs& inputs, std::vector<InterfaceLeaf>& leaves) {
  const ir::Type type = inputs.types.pool()[member.type];
  const std::string& name = inputs.names.FieldName(member.member);
  const uint32_t location = inputs.layout.LocationOf(member.member);
  // Between the stages an integer is not interpolated; elsewhere nothing is.
  const bool flat = decl.container() == ir::ContainerKind::kState && IsInteger(type);
  const std::string_view suffix = flat ? " @interpolate(flat)" : "";
  if (type.kind != ir::TypeKind::kMatrix) {
    leaves.push_back({.attributes = fmt::format("@location({}){}", location, suffix),
                      .name = name,
                      .type = inputs.types.Text(member.type),
                      .variable = name});
    return;
  }
  // A column is a vector of its rows.
  const ir::TypeId column = inputs.types.pool().Vector(type.scalar, type.rows);
  for (uint32_t i = 0; i < type.columns; ++i) {
    leaves.push_back({.attributes = fmt::format("@location({}){}", location + i, suffix),
                      .name = fmt::format("{}__{}", name, i),
                      .type = inputs.types.Text(column),
                      .variable = fmt::format("{}[{}u]", name, i)});
  }
}

}  // namespace

// The rows are those of the enumeration; the assertion above counts them.
std::string_view BuiltinAttribute(ir::StageVariable variable) {
  return kStageRows[static_cast<size_t>(variable)].builtin;
}

std::string_view BuiltinType(ir::StageVariable variable) {
  return kStageRows[static_cast<size_t>(variable)].type;
}

EntryInterface InterfaceOf(ir::Stage stage, const ModuleNeeds& needs, const ModuleNeeds* next_stage,
                           const InterfaceInputs& inputs) {
  EntryInterface interface;
  for (uint32_t i = 0; i < kStageVariables; ++i) {
    const auto variable = static_cast<ir::StageVariable>(i);
    // WebGPU asks for a position of every vertex entry point, written or not.
    const bool always = stage == ir::Stage::kVertex && variable == ir::StageVariable::kPosition;
    if ((needs.stage_variables & BitOf(variable)) == 0 && !always) {
      continue;
    }
    const InterfaceLeaf leaf{.attributes = std::string(BuiltinAttribute(variable)),
                             .name = std::string(StageVariableName(variable)),
                             .type = std::string(BuiltinType(variable)),
                             .variable = std::string(StageVariableName(variable))};
    (kStageRows[i].output ? interface.outputs : interface.inputs).push_back(leaf);
    interface.handed_on |= IsHandedOn(variable) ? BitOf(variable) : 0;
  }
  // In the order of the declarations, so that parameters and members stand in an order that no
  // function decides.
  for (const ir::SpecialisedDecl* decl : inputs.variant.interface) {
    if (decl->kind != ir::DeclKind::kContainer) {
      continue;
    }
    for (const ir::SpecialisedMember& member : decl->members) {
      if (needs.Uses(member.member, ir::Direction::kIn)) {
        AddField(*decl, member, inputs, interface.inputs);
      }
      // What the fragment stage reads must be handed over by the vertex stage, even if nothing
      // writes it (spec/wgsl 2.1).
      const bool read_later = next_stage != nullptr &&
                              decl->container() == ir::ContainerKind::kState &&
                              next_stage->Uses(member.member, ir::Direction::kIn);
      if (needs.Uses(member.member, ir::Direction::kOut) || read_later) {
        AddField(*decl, member, inputs, interface.outputs);
      }
    }
  }
  return interface;
}

}  // namespace kiln::wgsl
