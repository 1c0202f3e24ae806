// SPDX-License-Identifier: MIT
// Lines of a linked program's sources for full debug information, from its images alone: the text
// need not be there. Columns count bytes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compiler/driver/request.h"
#include "compiler/emit/spirv/source_lines.h"
#include "compiler/ir/module_files.h"
#include "compiler/target/target.h"

namespace kiln::driver {

class ProgramLines final : public spirv::SourceLines {
 public:
  // `program` must outlive it. Without full debug information nobody asks, and nothing is read.
  ProgramLines(const LinkedProgram& program, target::Debug debug);

  std::string_view FileOf(uint32_t module, uint32_t file) const override;
  Position At(uint32_t module, ir::SpanId span) const override;

 private:
  const LinkedProgram& program_;
  std::vector<std::span<const uint32_t>> starts_;      // by module
  std::vector<std::optional<ir::ModuleFiles>> files_;  // of modules of several files
};

}  // namespace kiln::driver
