// SPDX-License-Identifier: MIT
#include "compiler/resolve/units.h"

#include "compiler/base/check.h"
#include "compiler/resolve/walk_memory.h"

namespace kiln::resolve {

WalkMemory::WalkMemory(const Program& program, Serves serves)
    : reach(program, serves),
      interface(program.interface().size()),
      interface_reads(program.option_count()),
      layout_reads(program.option_count()),
      settings_reads(program.option_count()),
      code_reads(program.option_count()),
      settled(program.member_count()),
      options(program.option_count()),
      remembers(serves == Serves::kManyVariants) {
  for (uint32_t i = 0; i < program.option_count(); ++i) {
    if (program.Get(ir::OptionId{i}).specialize != 0) {
      specialised.push_back(ir::OptionId{i});
    }
  }
}

void WalkMemory::Forget() {
  KILN_CHECK(!remembers, "what serves many variants remembers");
  reach.Forget();
  settings.clear();
  for (ListedOption& listed : options) {
    listed.known = false;
  }
}

Units::Units(Serves serves) : serves_(serves) {}
Units::~Units() = default;

void Units::ForgetWalks() {
  if (memory_ != nullptr) {
    memory_->Forget();
  }
}

WalkMemory& Units::MemoryOf(const Program& program) {
  if (memory_ == nullptr) {
    memory_ = std::make_unique<WalkMemory>(program, serves_);
  }
  return *memory_;
}

}  // namespace kiln::resolve
