// SPDX-License-Identifier: MIT
// Whether what emission made of a variant is small enough to be a result. A few lines can ask for
// megabytes (aliases, calls, sizes), so this is asked of what came out. See spec/daemon 10
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/emit/spirv/assemble.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/program.h"
#include "compiler/target/target.h"

namespace kiln::driver {

// Of one module. WGSL has no ids.
struct ModuleSize {
  uint32_t ids = 0;
  uint64_t bytes = 0;
  spirv::ModuleWidth width{};
};

// Requires: words of a module, or none.
ModuleSize SizeOf(std::span<const uint32_t> words, const spirv::ModuleWidth& width);
inline ModuleSize SizeOf(std::string_view text) { return {.ids = 0, .bytes = text.size()}; }

// LIM1001 for each limit that the module of `choice` exceeds, at its entry point. False: one does.
bool CheckModule(const resolve::Program& program, const ir::SpecialisedProgram& variant,
                 spirv::EntryChoice choice, const ModuleSize& size, std::vector<Diagnostic>& found);

// LIM1001 for each entry point whose code alone is too large for a module, by its number; one if
// all are in one module. False: there is one.
bool CheckCode(const resolve::Program& program, const ir::SpecialisedProgram& variant,
               std::span<const uint32_t> oversized, const target::Target& target,
               std::vector<Diagnostic>& found);

// The same for the metadata of a variant, which has no place.
bool CheckMetadata(const resolve::Program& program, bool fits, std::vector<Diagnostic>& found);

}  // namespace kiln::driver
