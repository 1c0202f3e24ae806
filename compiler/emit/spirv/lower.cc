// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/lower.h"

#include <vector>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/lower/lower_block.h"
#include "compiler/emit/spirv/lower/lower_relaxed.h"
#include "compiler/emit/spirv/lower/region_lowering.h"
#include "compiler/emit/spirv/lower_decl.h"
#include "compiler/emit/spirv/prepare_functions.h"

namespace kiln::spirv {
namespace {

using spv::Op;
using spv::StorageClass;

// Reserved names take the first ids, in source order; a loop exit takes two.
void ReserveNames(RegionLowering& region) {
  CodeObjectStore& store = region.table().store();
  std::vector<LoweringScratch::OwnName>& names = region.scratch().own_names;
  // All names first, and only then what is written about them: a reserved name is found by its
  // place in the list, so nothing else may take an id in between.
  for (const ir::SpecialisedLocal& local : region.source().locals) {
    if (local.local.value >= names.size()) {
      names.resize(local.local.value + size_t{1});
    }
    // The table is not cleared for each region; an entry counts only if it has the epoch of this
    // one.
    names[local.local.value] = {region.scratch().epoch,
                                region.writer().Reserve(store.Local(local.local))};
    if (ir::IsExit(local.kind)) {
      region.writer().Reserve(store.Local(local.local, LocalRole::kContinue));
    }
  }
  for (const ir::SpecialisedLocal& local : region.source().locals) {
    const Ref id = names[local.local.value].id;
    if (ir::IsExit(local.kind)) {
      continue;
    }
    if (region.table().target().debug != target::Debug::kNone) {
      region.writer().Op(Part::kDebug, Op::OpName).Use(id).Text(region.pool().Text(local.name));
    }
    if (local.relaxed) {
      MarkRelaxed(region, id);
    }
    // SPIR-V wants the variables of a function in its first block. So they are a part of their own,
    // and assembling writes those of all regions in front of the code.
    if (local.kind == ir::LocalKind::kVariable) {
      region.writer()
          .Op(Part::kVariables, Op::OpVariable)
          .Use(region.globals().Pointer(StorageClass::Function, region.Type(local.type)))
          .Use(id)
          .Word(StorageClass::Function);
    }
  }
}

// Lowers the body of a region. How its last block ends is written down and not written: a region
// inside of another must let control flow on, and only the function knows what then ends it.
CodeObjectId Run(RegionLowering& region) {
  if (!region.source().relaxed.empty()) {
    region.scratch().relaxed.resize(region.source().insts.size());
    for (const uint32_t inst : region.source().relaxed) {
      region.scratch().relaxed[inst] = true;
    }
  }
  ReserveNames(region);
  LowerBlock(region, region.source().body);
  region.writer().end = region.block().terminated ? End::kTerminated : End::kFlows;
  return region.table().store().Add(region.writer());
}

}  // namespace

CodeObjectId Lower(const ir::SpecialisedRegion& source, const target::Target& target,
                   CodeObjectTable& table) {
  KILN_CHECK(target == table.target(), "a code object table serves one target");
  RegionLowering region(source, table);
  return Run(region);
}

// Declarations come first, because lowering a region asks for the classes of the declarations it
// mentions. Regions that another version of a function has as well are lowered already.
std::vector<uint32_t> Prepare(const ir::SpecialisedProgram& variant, CodeObjectTable& table) {
  const auto lower_decl = [&](const ir::SpecialisedDecl& decl) {
    if (table.Find(&decl) == nullptr) {
      LowerDecl(decl, table);
    }
  };
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    lower_decl(*decl);
  }
  return PrepareFunctions(variant, table, lower_decl, [&](const ir::SpecialisedRegion& region) {
    if (!table.Find(&region).valid()) {
      table.Bind(region, Lower(region, table.target(), table));
    }
  });
}

}  // namespace kiln::spirv
