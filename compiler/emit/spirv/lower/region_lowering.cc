// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/lower/region_lowering.h"

namespace kiln::spirv {

RegionLowering::RegionLowering(const ir::SpecialisedRegion& region, CodeObjectTable& table)
    : source_(region),
      table_(table),
      pool_(table.pool()),
      globals_(table.globals()),
      writer_(table.RegionWriter()),
      scratch_(table.scratch()) {
  // The memory is that of the table and is empty again; only the epoch of the names goes on.
  scratch_.Clear();
  scratch_.values.assign(region.insts.size(), Ref{});
}

// Names are found by the number of the local, without clearing between regions: a row that another
// region wrote has another epoch.
Ref RegionLowering::LowerName(ir::LocalId local, LocalRole role) {
  const std::vector<LoweringScratch::OwnName>& names = scratch_.own_names;
  if (local.value < names.size() && names[local.value].epoch == scratch_.epoch) {
    // A loop exit has two ids in a row: to break, to continue.
    return Ref::Own(names[local.value].id.number() + static_cast<uint32_t>(role));
  }
  return Ref::Of(table_.store().Local(local, role));
}

Ref RegionLowering::Compute(spv::Op op, SymbolId type, Ref a, Ref b) {
  const Ref result = writer_.NewId();
  Code(op).Use(type).Use(result).Use(a).Use(b);
  return result;
}

Ref RegionLowering::Compute(spv::Op op, SymbolId type, Ref a) {
  const Ref result = writer_.NewId();
  Code(op).Use(type).Use(result).Use(a);
  return result;
}

}  // namespace kiln::spirv
