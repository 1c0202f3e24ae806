// SPDX-License-Identifier: MIT
// Third step of assembling: the words of a module that was collected and numbered.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/emit/spirv/code_object_table.h"
#include "compiler/emit/spirv/copy_words.h"
#include "compiler/emit/spirv/function_images.h"
#include "compiler/emit/spirv/live_module.h"
#include "compiler/emit/spirv/module_numbering.h"
#include "compiler/ir/specialised.h"
#include "compiler/layout/layout.h"

namespace kiln::spirv {

class ModuleWriter {
 public:
  // All must outlive the writer.
  ModuleWriter(const CodeObjectTable& table, const LiveModule& module, ModuleNumbering& numbering,
               const FunctionImages& images)
      : table_(table),
        store_(table.store()),
        module_(module),
        numbering_(numbering),
        images_(images),
        long_copy_(LongCopy()) {}
  ModuleWriter(const ModuleWriter&) = delete;
  ModuleWriter& operator=(const ModuleWriter&) = delete;

  // The words are valid until the next call for the same index.
  std::span<const uint32_t> Write(const ir::SpecialisedProgram& variant,
                                  const layout::Layout& layout, uint32_t index);

 private:
  // Room for `count` words.
  uint32_t* WordsOf(uint32_t index, uint32_t count);
  template <class Visit>
  void ForRuns(const LiveFunction& function, Visit visit) const;
  void WriteHead(const ir::SpecialisedProgram& variant);
  const std::vector<uint32_t>& PreambleOf(target::Needs needs);
  void WriteEntryPoint(const LiveEntry& entry);
  void WriteModes(const LiveEntry& entry, const ir::SpecialisedProgram& variant);
  bool HasStageVariable(const LiveEntry& entry, ir::StageVariable variable) const;
  void WriteDebug();
  void WriteAnnotations(const layout::Layout& layout);
  void FillSlots(const ModuleRun& run, uint32_t* words, const layout::Layout& layout);
  void WriteEntry(const LiveEntry& entry);
  void WriteFunction(const LiveFunction& function);
  void WriteSection(const Section& section, uint32_t base);
  void WriteFlat(const Section& section, uint32_t base);
  void Copy(Range<uint32_t> words, Range<SymbolRelocation> imports, uint32_t base,
            uint32_t position);
  void PutAll(std::span<const uint32_t> words);
  void Put(uint32_t word) { *out_++ = word; }

  const CodeObjectTable& table_;
  const CodeObjectStore& store_;
  const LiveModule& module_;
  ModuleNumbering& numbering_;
  const FunctionImages& images_;
  const CopyWords long_copy_;
  FlatMap<target::Needs, std::vector<uint32_t>> preambles_;  // by Needs
  std::vector<std::vector<uint32_t>> words_;                 // by index
  uint32_t* out_ = nullptr;
};

}  // namespace kiln::spirv
