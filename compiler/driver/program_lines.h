// SPDX-License-Identifier: MIT
// Lines of a linked program's sources for full debug information, from its images alone: the text
// need not be there. Columns count bytes.
#pragma once

#include <span>
#include <vector>

#include "compiler/driver/request.h"
#include "compiler/emit/spirv/source_lines.h"
#include "compiler/target/target.h"

namespace kiln::driver {

class ProgramLines final : public spirv::SourceLines {
 public:
  // `program` must outlive it. Without full debug information nobody asks, and nothing is read.
  ProgramLines(const LinkedProgram& program, target::Debug debug);

  std::string_view FileOf(uint32_t module) const override { return program_.paths[module]; }
  Position At(uint32_t module, ir::SpanId span) const override;

 private:
  const LinkedProgram& program_;
  std::vector<std::span<const uint32_t>> starts_;  // by module
};

}  // namespace kiln::driver
