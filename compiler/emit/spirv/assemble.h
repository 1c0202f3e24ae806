// SPDX-License-Identifier: MIT
// Code objects -> a module, as a linker does it: collect what is live, number it, copy words and
// add bases. Linear in the output, without recursion, and without allocation once warm. A step is a
// class: ModuleCollector, ModuleNumbering, ModuleWriter; what they hand on is LiveModule. See
// spec/architecture 10.4, 10.8; spec/rpl 11.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/emit/spirv/code_object_table.h"
#include "compiler/emit/spirv/live_module.h"
#include "compiler/emit/spirv/module_collector.h"
#include "compiler/emit/spirv/module_numbering.h"
#include "compiler/emit/spirv/module_writer.h"
#include "compiler/ir/specialised.h"
#include "compiler/layout/layout.h"

namespace kiln::spirv {

// One per thread; reads the table, keeps its own memory.
class Assembler {
 public:
  // `table` must outlive the assembler; it may grow between calls.
  explicit Assembler(const CodeObjectTable& table)
      : collector_(table, module_),
        numbering_(table, module_),
        writer_(table, module_, numbering_, collector_.images()) {}
  Assembler(const Assembler&) = delete;
  Assembler& operator=(const Assembler&) = delete;

  // The words are valid until the next call for the same index. Requires: everything the variant
  // refers to is in the table (Prepare), and the layout is that of the variant.
  std::span<const uint32_t> Assemble(const ir::SpecialisedProgram& variant, EntryChoice choice,
                                     const layout::Layout& layout);

  // With CodeObjectTable::Forget: functions are put together anew, and keys mean nothing any more.
  void Forget() { collector_.Forget(); }

  // Of what grows with the modules written.
  size_t bytes_used() const { return collector_.images().bytes_used(); }

  // What the last module needs: its capabilities and extensions.
  target::Needs needs() const { return module_.needs; }

  // Of the last module that was collected.
  ModuleWidth width() const { return module_.width; }

  // In two steps, so that a module that was written before need not be written again. Collect gives
  // all that decides the words: equal keys are equal words, and a key is valid until the next call.
  // Write gives the words of what was collected last, whose arguments must still be there.
  std::span<const uint32_t> Collect(const ir::SpecialisedProgram& variant, EntryChoice choice,
                                    const layout::Layout& layout);
  std::span<const uint32_t> Write(const ir::SpecialisedProgram& variant, EntryChoice choice,
                                  const layout::Layout& layout);

 private:
  LiveModule module_;  // the one in progress
  ModuleCollector collector_;
  ModuleNumbering numbering_;
  ModuleWriter writer_;
};

// The same with memory of its own, for tools and tests.
std::vector<uint32_t> Assemble(const ir::SpecialisedProgram& variant, EntryChoice choice,
                               const layout::Layout& layout, const CodeObjectTable& table);

}  // namespace kiln::spirv
