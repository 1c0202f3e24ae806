// SPDX-License-Identifier: MIT
#include "compiler/driver/assembler/cached_units.h"

#include "compiler/resolve/specialise/specialise_decl.h"
#include "compiler/resolve/specialise/specialise_region.h"

namespace kiln::driver {
namespace {

// Estimates: what is counted decides when an assembler is dropped, and exact sizes would cost a
// walk over everything.
constexpr uint64_t kTreeBytes = 256;  // of the questions that lead to one version
constexpr uint64_t kInstBytes = 32;   // of a closed instruction with its operands, block and span

size_t SegmentCount(const resolve::Program& program) {
  size_t count = 0;
  for (const ir::ModuleView& module : program.modules()) {
    count += module.segments.size();
  }
  return count;
}

}  // namespace

CachedUnits::CachedUnits(const resolve::Program& program)
    : UnitSource(resolve::CachePolicy::kManyVariants),
      program_(program),
      decls_(program.decl_count()),
      segments_(SegmentCount(program)) {}

const Diagnosed<ir::SpecialisedDecl>& CachedUnits::Decl(ir::DeclId decl,
                                                        resolve::VariantEvaluator& answers) {
  return resolve::Recall(decls_[decl.value], answers, [&] {
    Diagnosed<ir::SpecialisedDecl> closed = resolve::SpecialiseDecl(program_, decl, answers);
    // Only what was really specialised counts; a version that was recalled is there already.
    ++decl_versions_;
    bytes_used_ += sizeof(closed) + kTreeBytes;
    if (closed.value.has_value()) {
      bytes_used_ += closed.value->members.size() * sizeof(ir::SpecialisedMember);
    }
    return closed;
  });
}

const Diagnosed<ir::SpecialisedRegion>& CachedUnits::Region(ir::RegionId segment,
                                                            resolve::VariantEvaluator& answers) {
  return resolve::Recall(segments_[segment.value], answers, [&] {
    Diagnosed<ir::SpecialisedRegion> closed = resolve::SpecialiseRegion(program_, segment, answers);
    ++segment_versions_;
    bytes_used_ += sizeof(closed) + kTreeBytes;
    if (closed.value.has_value()) {
      bytes_used_ += closed.value->insts.size() * kInstBytes;
    }
    return closed;
  });
}

}  // namespace kiln::driver
