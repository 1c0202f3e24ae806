// SPDX-License-Identifier: MIT
// Where specialised units come from: computed anew (DirectUnits, driver/direct_builder) or
// remembered (CachedUnits, driver/assembler/cached_units). Memoisation is a decorator; everything
// behind this interface is one code for both. See spec/architecture 10.2.
#pragma once

#include <cstdint>
#include <memory>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"

namespace kiln::resolve {

class VariantEvaluator;
class Program;
struct SpecialiserCache;

// How many variants are specialised with the same units: for one, nothing beside them is
// remembered.
enum class CachePolicy : uint8_t { kOneVariant, kManyVariants };

class UnitSource {
 public:
  explicit UnitSource(CachePolicy serves = CachePolicy::kOneVariant);
  virtual ~UnitSource();
  UnitSource(const UnitSource&) = delete;
  UnitSource& operator=(const UnitSource&) = delete;
  // References stay valid as long as the Units.
  virtual const Diagnosed<ir::SpecialisedDecl>& Decl(ir::DeclId decl,
                                                     VariantEvaluator& answers) = 0;
  virtual const Diagnosed<ir::SpecialisedRegion>& Region(ir::RegionId region,
                                                         VariantEvaluator& answers) = 0;

  // What walks keep beside the units; one program and list of entry points for their life.
  SpecialiserCache& MemoryOf(const Program& program);

 protected:
  void ForgetWalks();

 private:
  CachePolicy serves_;
  std::unique_ptr<SpecialiserCache> memory_;
};

}  // namespace kiln::resolve
