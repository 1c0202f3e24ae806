// SPDX-License-Identifier: MIT
// Where things lie in memory, as the language says: sizes, alignments, offsets of members, and what
// uniform buffers ask beyond. See spec/wgsl 5.5
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/front/wgsl/sema/type.h"

namespace kiln::wgsl::front {

struct Extent {
  uint64_t align = 1;
  uint64_t size = 0;  // of an array without a count: of one item
};
Extent ExtentOf(const Types& types, TypeId id);
uint64_t StrideOf(const Types& types, TypeId array);

// Fills offsets, alignment and size of a struct. Requires: those in it are laid out.
void LayOut(Types& types, StructId id);

// Why the type cannot be in a uniform buffer, or nothing.
std::optional<std::string> UniformFault(const Types& types, TypeId id);

// What of a buffer's form in memory the IR cannot say yet, or nothing.
std::optional<std::string> LayoutRefusal(const Types& types, TypeId id, bool uniform);

}  // namespace kiln::wgsl::front
