// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/assemble.h"

#include <cstring>

namespace kiln::spirv {

std::span<const uint32_t> Assembler::Assemble(const ir::SpecialisedProgram& variant,
                                              EntryChoice choice, const layout::Layout& layout) {
  // Without a number there is no key to look words up by: this module is written in any case, and
  // what an earlier NumberModule said does not apply to it.
  collector_.Collect(variant, choice, layout);
  linked_ = kNoModule;
  return Write(variant, choice, layout);
}

ModuleNumber Assembler::NumberModule(const ir::SpecialisedProgram& variant, EntryChoice choice,
                                     const layout::Layout& layout) {
  collector_.Collect(variant, choice, layout);
  const ModuleNumber number = modules_.NumberOf(module_.key);
  linked_ = number.module;
  return number;
}

std::span<const uint32_t> Assembler::Write(const ir::SpecialisedProgram& variant,
                                           EntryChoice choice, const layout::Layout& layout) {
  // A module that was met often is kept as words. They are copied instead of handed out, because
  // the caller may change its words, and because the next Keep may move the memory of the kept
  // ones.
  if (linked_ != kNoModule) {
    if (const std::span<const uint32_t> kept = modules_.WordsOf(linked_); !kept.empty()) {
      uint32_t* const words = writer_.WordsOf(choice.index, static_cast<uint32_t>(kept.size()));
      std::memcpy(words, kept.data(), kept.size_bytes());
      return {words, kept.size()};
    }
  }
  // Numbering comes late on purpose: a module that is found in a cache by its number never needs
  // ids.
  numbering_.Number();
  const std::span<const uint32_t> words = writer_.Write(variant, layout, choice.index);
  if (linked_ != kNoModule) {
    modules_.Keep(linked_, words);
  }
  return words;
}

std::vector<uint32_t> Assemble(const ir::SpecialisedProgram& variant, EntryChoice choice,
                               const layout::Layout& layout, const CodeObjectTable& table) {
  Assembler assembler(table);
  const std::span<const uint32_t> words = assembler.Assemble(variant, choice, layout);
  return {words.begin(), words.end()};
}

}  // namespace kiln::spirv
