// SPDX-License-Identifier: MIT
#include "compiler/driver/assembler/cached_units.h"

#include "compiler/resolve/specialise/specialise_decl.h"
#include "compiler/resolve/specialise/specialise_region.h"

namespace kiln::driver {
namespace {

// Estimates: what is counted decides when an assembler is dropped, and exact sizes would cost a
// walk over everything.
constexpr uint64_t kTreeBytes = 256;  // of the queries that lead to one version
constexpr uint64_t kInstBytes =
    32;  // of a specialised instruction with its operands, block and span

size_t RegionCount(const resolve::Program& program) {
  size_t count = 0;
  for (const ir::ModuleView& module : program.modules()) {
    count += module.regions.size();
  }
  return count;
}

}  // namespace

CachedUnits::CachedUnits(const resolve::Program& program)
    : UnitSource(resolve::CachePolicy::kManyVariants),
      program_(program),
      decls_(program.decl_count()),
      regions_(RegionCount(program)) {}

const Diagnosed<ir::SpecialisedDecl>& CachedUnits::Decl(ir::DeclId decl,
                                                        resolve::VariantEvaluator& answers) {
  return resolve::Recall(decls_[decl.value], answers, [&] {
    Diagnosed<ir::SpecialisedDecl> specialised = resolve::SpecialiseDecl(program_, decl, answers);
    // Only what was really specialised counts; a version that was recalled is there already.
    ++decl_versions_;
    bytes_used_ += sizeof(specialised) + kTreeBytes;
    if (specialised.value.has_value()) {
      bytes_used_ += specialised.value->members.size() * sizeof(ir::SpecialisedMember);
    }
    return specialised;
  });
}

const Diagnosed<ir::SpecialisedRegion>& CachedUnits::Region(ir::RegionId region,
                                                            resolve::VariantEvaluator& answers) {
  return resolve::Recall(regions_[region.value], answers, [&] {
    Diagnosed<ir::SpecialisedRegion> specialised =
        resolve::SpecialiseRegion(program_, region, answers);
    ++region_versions_;
    bytes_used_ += sizeof(specialised) + kTreeBytes;
    if (specialised.value.has_value()) {
      bytes_used_ += specialised.value->insts.size() * kInstBytes;
    }
    return specialised;
  });
}

}  // namespace kiln::driver
