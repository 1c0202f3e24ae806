// SPDX-License-Identifier: MIT
#include "compiler/driver/program_lines.h"

#include <algorithm>

#include "compiler/ir/line_starts.h"

namespace kiln::driver {

// Tables of lines are read only where someone will ask; an image that has none gives an empty
// table, and then no lines are known.
ProgramLines::ProgramLines(const LinkedProgram& program, target::Debug debug) : program_(program) {
  for (const std::shared_ptr<const ir::Module>& module : program.modules) {
    const bool full = debug == target::Debug::kFull;
    starts_.push_back(full ? ir::LineStartsOf(*module) : std::span<const uint32_t>());
    Result<std::optional<ir::ModuleFiles>> files =
        full ? ir::FilesOf(*module) : std::optional<ir::ModuleFiles>();
    // Damaged tables are treated like missing ones: lines are for debugging only, and no build may
    // fail because of them.
    files_.push_back(files.ok() ? std::move(files).value() : std::nullopt);
  }
}

std::string_view ProgramLines::FileOf(uint32_t module, uint32_t file) const {
  return files_[module].has_value() ? std::string_view(files_[module]->files[file].path)
                                    : program_.paths[module];
}

// The line is found by halves among the starts of lines. In a module of several files spans count
// through all of them, so the line is counted from the first of its file.
spirv::SourceLines::Position ProgramLines::At(uint32_t module, ir::SpanId span) const {
  const Span bytes = program_.program.module(module).SpanOf(span);
  const std::span<const uint32_t> starts = starts_[module];
  const auto next = std::ranges::upper_bound(starts, bytes.begin);
  if (bytes == Span{} || next == starts.begin()) {
    return {};
  }
  const std::optional<ir::ModuleFiles>& files = files_[module];
  const size_t file = files.has_value() ? files->FileAt(bytes.begin) : 0;
  const uint32_t first = files.has_value() ? files->files[file].first : 0;
  const auto first_line = std::ranges::lower_bound(starts, first);
  return {.file = static_cast<uint32_t>(file),
          .line = static_cast<uint32_t>(next - first_line),
          .column = bytes.begin - *std::prev(next) + 1};
}

}  // namespace kiln::driver
