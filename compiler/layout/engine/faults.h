// SPDX-License-Identifier: MIT
// Blocks of bytes that cannot be: where in a type its layout breaks, what is above the limits of
// the target, and what WGSL cannot write. See spec/layout 4.6, 4.7, 4.9, 13; spec/rpl 13.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/layout/bytes.h"
#include "compiler/layout/engine/global_order.h"

namespace kiln::layout {

enum class BlockUse : uint8_t { kUniform, kStorage, kPush, kElement };

// One block: its name, content, and how it is bound.
struct CheckedBlock {
  std::string_view name;
  TypeId content{};
  Rules rules = Rules::kStd140;
  BlockUse use = BlockUse::kUniform;
  Location where{};
  bool loose = false;  // its members are globals, which are named without the block
};

// The diagnostic of a type whose layout has a fault. `member` becomes the outermost member it is
// in, or Finding::kNone; `path` the place below the name of the block. Requires: it has a fault.
struct FaultPlace {
  Diagnostic diagnostic;
  std::string path;
  uint32_t member = Finding::kNone;
};
FaultPlace ExplainFault(ByteLayouts& bytes, const CheckedBlock& block);

// Reports everything that is wrong with a block of the program.
void CheckBlock(const Program& program, ByteLayouts& bytes, const CheckedBlock& block,
                uint32_t order, const Item* item, Findings& findings);

}  // namespace kiln::layout
