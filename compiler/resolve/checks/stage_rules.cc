// SPDX-License-Identifier: MIT
#include "compiler/resolve/checks/stage_rules.h"

#include <string_view>

#include "compiler/ir/builtins.h"
#include "compiler/ir/typing/image_typing.h"

namespace kiln::resolve {
namespace {

bool IsDerivative(ir::Builtin builtin) {
  return builtin >= ir::Builtin::kDdx && builtin <= ir::Builtin::kDdyCoarse;
}

std::string_view StageText(ir::Stage stage) {
  return stage == ir::Stage::kVertex     ? "vertex"
         : stage == ir::Stage::kFragment ? "pixel"
                                         : "compute";
}

// The name of what takes its derivatives from its neighbours; empty for everything else.
std::string_view DerivativeName(const ir::Inst& inst) {
  if (inst.kind == ir::InstKind::kBuiltinCall) {
    const ir::Builtin builtin = inst.As<ir::BuiltinCallInst>().builtin;
    return IsDerivative(builtin) ? ir::FactsOf(builtin).name : "";
  }
  if (inst.kind == ir::InstKind::kImage) {
    const auto image = inst.As<ir::ImageInst>();
    return ir::IsImplicitLod(image.op, image.keywords) ? "Sample" : "";
  }
  return "";
}

// What belongs to one stage, and its name; empty if nothing does or it is this one.
struct StageBound {
  std::string_view text, stages;
};
StageBound BoundOf(const ir::Inst& inst, ir::Stage stage) {
  const bool discards = inst.kind == ir::InstKind::kDemote || inst.kind == ir::InstKind::kDiscard;
  if (discards && stage != ir::Stage::kFragment) {
    return {"discard", "pixel"};
  }
  if (inst.kind != ir::InstKind::kBarrier || stage == ir::Stage::kCompute) {
    return {};
  }
  const ir::BarrierMode mode = ir::UnpackBarrier(inst.As<ir::BarrierInst>().mode);
  // Any part of the barrier that names the workgroup binds it to compute shaders.
  const bool group = mode.execution != ir::MemoryScope::kNone ||
                     mode.scope == ir::MemoryScope::kWorkgroup ||
                     (mode.kinds & 1u << static_cast<uint32_t>(ir::MemoryKind::kWorkgroup)) != 0;
  return group ? StageBound{"a barrier of the group", "compute"} : StageBound{};
}

}  // namespace

void CheckStageRules(const Program& program, ir::Stage stage, const ir::SpecialisedRegion& region,
                     std::vector<Diagnostic>& diagnostics) {
  for (size_t i = 0; i < region.insts.size(); ++i) {
    const ir::Inst& inst = region.insts[i];
    // Fragment shaders may take derivatives, so there is nothing to find for them.
    const std::string_view name =
        stage == ir::Stage::kFragment ? std::string_view{} : DerivativeName(inst);
    const StageBound bound = BoundOf(inst, stage);
    if (name.empty() && bound.text.empty()) {
      continue;
    }
    // A module without places gets its message without one.
    const Location where =
        program.At(region.module, i < region.spans.size() ? region.spans[i] : ir::SpanId{});
    diagnostics.push_back(
        name.empty()
            ? Make(Code::kHlsl3007, where).With("text", bound.text).With("stages", bound.stages)
            : Make(Code::kHlsl3019, where).With("name", name).With("stage", StageText(stage)));
  }
}

}  // namespace kiln::resolve
