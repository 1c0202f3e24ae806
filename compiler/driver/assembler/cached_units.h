// SPDX-License-Identifier: MIT
// Specialised units that are remembered by what they asked: each is specialised once per distinct
// answers. Everything else is as in DirectUnits. One program, one pool, one thread. See
// spec/architecture 10.2
#pragma once

#include <vector>

#include "compiler/resolve/program.h"
#include "compiler/resolve/queries/query_cache.h"
#include "compiler/resolve/units.h"

namespace kiln::driver {

class CachedUnits final : public resolve::UnitSource {
 public:
  explicit CachedUnits(const resolve::Program& program);

  const Diagnosed<ir::SpecialisedDecl>& Decl(ir::DeclId decl,
                                             resolve::VariantEvaluator& answers) override;
  const Diagnosed<ir::SpecialisedRegion>& Region(ir::RegionId region,
                                                 resolve::VariantEvaluator& answers) override;

  size_t decl_versions() const { return decl_versions_; }
  size_t region_versions() const { return region_versions_; }
  uint64_t bytes_used() const { return bytes_used_; }  // roughly

 private:
  const resolve::Program& program_;
  std::vector<resolve::QueryCache<Diagnosed<ir::SpecialisedDecl>>> decls_;      // by DeclId
  std::vector<resolve::QueryCache<Diagnosed<ir::SpecialisedRegion>>> regions_;  // by RegionId
  size_t decl_versions_ = 0;
  size_t region_versions_ = 0;
  uint64_t bytes_used_ = 0;
};

}  // namespace kiln::driver
