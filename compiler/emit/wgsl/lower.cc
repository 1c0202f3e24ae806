// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/lower.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "compiler/emit/wgsl/lower/lower_block.h"
#include "compiler/emit/wgsl/lower/lower_typed.h"
#include "compiler/emit/wgsl/lower/region_lowering.h"
#include "compiler/emit/wgsl/names.h"

namespace kiln::wgsl {
namespace {

// Names of the locals that the region declares. Two of one name live in sibling scopes of the
// source, which the region does not keep apart.
std::vector<LocalName> NamesOf(const ir::SpecialisedRegion& region, const ir::Pool& pool) {
  std::vector<LocalName> names;
  // A list, as a region has few names.
  std::vector<std::pair<ir::StringId, uint32_t>> counts;
  for (const ir::SpecialisedLocal& local : region.locals) {
    // The exit of a loop is no variable of WGSL.
    if (local.kind == ir::LocalKind::kLoopExit) {
      continue;
    }
    // Counted by name within the region and in order of declaration. The second one of a name gets
    // a number, which no source name can have behind two underscores.
    auto count = std::ranges::find(counts, local.name, &std::pair<ir::StringId, uint32_t>::first);
    if (count == counts.end()) {
      count = counts.insert(counts.end(), {local.name, 0});
    }
    const std::string_view source = pool.Text(local.name);
    std::string name =
        ++count->second == 1 ? NameOf(source) : MadeName(source, std::to_string(count->second));
    const ir::TypeKind kind = pool[local.type].kind;
    const bool handle = kind == ir::TypeKind::kSampler || kind == ir::TypeKind::kImage;
    // `out` and `in out` parameters are pointers; their text is the place behind it, so that users
    // need not know.
    if (local.kind == ir::LocalKind::kParameter && local.access != ir::Access::kIn && !handle) {
      name = "(*" + name + ")";
    }
    names.push_back({local.local, std::move(name)});
  }
  return names;
}

}  // namespace

// The variables of a region stand in front of its text, not where the source declares them: scopes
// are gone in the specialised IR.
TextObject Lower(const ir::SpecialisedRegion& region, const LoweringInputs& inputs) {
  RegionLowering lowering(region, inputs);
  if (inputs.types.typed) {
    LowerBlock(lowering, region.body);
    FinishTyped(lowering);
    return lowering.Finish();
  }
  lowering.SetNames(NamesOf(region, inputs.types.pool()));
  for (const ir::SpecialisedLocal& local : region.locals) {
    if (local.kind == ir::LocalKind::kVariable) {
      lowering.Line(
          fmt::format("var {} : {};", lowering.LocalText(local.local), lowering.Type(local.type)));
    }
  }
  LowerBlock(lowering, region.body);
  return lowering.Finish();
}

}  // namespace kiln::wgsl
