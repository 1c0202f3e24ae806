// SPDX-License-Identifier: MIT
#include "compiler/resolve/units.h"

#include "compiler/resolve/walk_memory.h"

namespace kiln::resolve {

WalkMemory::WalkMemory(const Program& program)
    : reach(program),
      interface(program.interface().size()),
      interface_reads(program.option_count()),
      layout_reads(program.option_count()),
      settings_reads(program.option_count()),
      code_reads(program.option_count()),
      settled(program.member_count()) {}

Units::Units() = default;
Units::~Units() = default;

WalkMemory& Units::MemoryOf(const Program& program) {
  if (memory_ == nullptr) {
    memory_ = std::make_unique<WalkMemory>(program);
  }
  return *memory_;
}

}  // namespace kiln::resolve
