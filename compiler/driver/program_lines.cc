// SPDX-License-Identifier: MIT
#include "compiler/driver/program_lines.h"

#include <algorithm>

#include "compiler/ir/line_starts.h"

namespace kiln::driver {

ProgramLines::ProgramLines(const LinkedProgram& program, target::Debug debug) : program_(program) {
  for (const std::shared_ptr<const ir::Module>& module : program.modules) {
    starts_.push_back(debug == target::Debug::kFull ? ir::LineStartsOf(*module)
                                                    : std::span<const uint32_t>());
  }
}

spirv::SourceLines::Position ProgramLines::At(uint32_t module, ir::SpanId span) const {
  const Span bytes = program_.program.module(module).SpanOf(span);
  const std::span<const uint32_t> starts = starts_[module];
  const auto next = std::ranges::upper_bound(starts, bytes.begin);
  if (bytes == Span{} || next == starts.begin()) {
    return {};
  }
  return {.line = static_cast<uint32_t>(next - starts.begin()),
          .column = bytes.begin - *std::prev(next) + 1};
}

}  // namespace kiln::driver
