// SPDX-License-Identifier: MIT
// The layout of a program as stable text, for people and for golden tests. See spec/layout 14.2.
#pragma once

#include <string>

#include "compiler/ir/specialised.h"
#include "compiler/layout/bytes.h"
#include "compiler/layout/ir_types.h"
#include "compiler/layout/program_layout.h"
#include "compiler/target/target.h"

namespace kiln::layout {

// With errors, the list of diagnostics instead.
std::string Dump(const Program& program, const ProgramLayout& layout, ByteLayouts& bytes);

// The dump of a specialised variant. Requires: it can be laid out.
std::string DumpLayout(const ir::SpecialisedProgram& variant, const target::Target& target,
                       TypeLayouts& types);

// One member of a block, for all listings of blocks.
struct ListedMember {
  std::string path;
  TypeId type{};
  uint64_t offset = 0;  // from the start of the block
  uint64_t size = 0;    // of one value, without padding behind it
  uint32_t alignment = 1;
  bool unsized = false;
  uint32_t array_stride = 0;   // of the outermost array
  uint32_t matrix_stride = 0;  // 0: no matrix
  bool row_major = false;
  bool as_columns = false;  // target webgpu: declared as separate columns
};

// Every member of a block, recursively, in order of declaration; elements of arrays once, as "[0]".
// Members without bytes because they hold resources only are left out. Requires: no fault.
std::vector<ListedMember> ListMembers(ByteLayouts& bytes, TypeId content, Rules rules);

}  // namespace kiln::layout
