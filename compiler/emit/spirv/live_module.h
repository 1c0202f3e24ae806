// SPDX-License-Identifier: MIT
// The module that is being assembled: what its entry points reach, as collecting finds it and
// numbering completes it. One per assembler; its memory is kept from module to module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/emit/spirv/code_object_table.h"
#include "compiler/emit/spirv/function_images.h"
#include "compiler/ir/specialised.h"

namespace kiln::spirv {

// Sets of globals: bits by GlobalId.
using GlobalBits = std::vector<uint64_t>;

inline bool Test(const GlobalBits& bits, GlobalId id) {
  return (bits[id.value / 64] >> (id.value % 64) & 1u) != 0;
}
inline void Set(GlobalBits& bits, GlobalId id) {
  bits[id.value / 64] |= uint64_t{1} << (id.value % 64);
}
inline void Unite(std::span<const uint64_t> more, GlobalBits& bits) {
  for (size_t i = 0; i < more.size(); ++i) {
    bits[i] |= more[i];
  }
}

struct LiveFunction {
  const FunctionImage* image = nullptr;
  uint32_t base = 0;  // first id; of numbering
};

struct LiveEntry {
  const ir::EntryRef* ref = nullptr;
  uint32_t first_function = 0;  // those first reached by it; a combined module shares the others
  uint32_t function_count = 0;
  uint32_t main = 0;  // first id of the entry function; of numbering
  GlobalBits live{};  // what it reaches
};

// What SPIR-V bounds by 16 bits.
struct ModuleWidth {
  uint32_t variables = 0;    // of module scope
  uint32_t entry_words = 0;  // of the longest OpEntryPoint
};

struct LiveModule {
  std::vector<LiveEntry> entries;  // more than there are, for their memory
  uint32_t entry_count = 0;
  std::vector<LiveFunction> functions;
  GlobalBits live;                     // union over the entries
  std::vector<CodeObjectId> versions;  // of variables, by GlobalId
  // What decides the words: entries with their functions, the versions of their variables and the
  // numbers in those.
  std::vector<uint32_t> key;
  target::Needs needs = 0;
  ModuleWidth width{};
  uint32_t word_bound = 0;  // of what was collected and numbered so far
  bool has_flows = false;   // some function hands images on
};

}  // namespace kiln::spirv
