// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/assemble.h"

namespace kiln::spirv {

std::span<const uint32_t> Assembler::Assemble(const ir::SpecialisedProgram& variant,
                                              EntryChoice choice, const layout::Layout& layout) {
  Collect(variant, choice, layout);
  return Write(variant, choice, layout);
}

std::span<const uint32_t> Assembler::Collect(const ir::SpecialisedProgram& variant,
                                             EntryChoice choice, const layout::Layout& layout) {
  collector_.Collect(variant, choice, layout);
  return module_.key;
}

// Numbering comes late on purpose: a module that is known by its key never needs ids.
std::span<const uint32_t> Assembler::Write(const ir::SpecialisedProgram& variant,
                                           EntryChoice choice, const layout::Layout& layout) {
  numbering_.Number();
  return writer_.Write(variant, layout, choice.index);
}

std::vector<uint32_t> Assemble(const ir::SpecialisedProgram& variant, EntryChoice choice,
                               const layout::Layout& layout, const CodeObjectTable& table) {
  Assembler assembler(table);
  const std::span<const uint32_t> words = assembler.Assemble(variant, choice, layout);
  return {words.begin(), words.end()};
}

}  // namespace kiln::spirv
