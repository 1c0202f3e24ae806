// SPDX-License-Identifier: MIT
#include "compiler/resolve/units.h"

#include "compiler/base/check.h"
#include "compiler/resolve/specialise/specialiser_cache.h"

namespace kiln::resolve {

SpecialiserCache::SpecialiserCache(const Program& program, CachePolicy serves)
    : reach(program, serves),
      interface(program.interface().size()),
      interface_reads(program.option_count()),
      layout_reads(program.option_count()),
      settings_reads(program.option_count()),
      code_reads(program.option_count()),
      settled(program.member_count()),
      options(program.option_count()),
      remembers(serves == CachePolicy::kManyVariants) {
  // The options of specialization constants are the same in all variants, so they are listed once.
  for (uint32_t i = 0; i < program.option_count(); ++i) {
    if (program.Get(ir::OptionId{i}).specialize != 0) {
      specialised.push_back(ir::OptionId{i});
    }
  }
}

void SpecialiserCache::Forget() {
  KILN_CHECK(!remembers, "what serves many variants remembers");
  reach.Forget();
  settings.clear();
  for (ListedOption& listed : options) {
    listed.known = false;
  }
}

UnitSource::UnitSource(CachePolicy serves) : serves_(serves) {}
UnitSource::~UnitSource() = default;

void UnitSource::ForgetWalks() {
  if (memory_ != nullptr) {
    memory_->Forget();
  }
}

// Made at the first use, as many sources of units never specialise anything.
SpecialiserCache& UnitSource::MemoryOf(const Program& program) {
  if (memory_ == nullptr) {
    memory_ = std::make_unique<SpecialiserCache>(program, serves_);
  }
  return *memory_;
}

}  // namespace kiln::resolve
