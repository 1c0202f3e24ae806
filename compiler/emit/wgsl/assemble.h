// SPDX-License-Identifier: MIT
// Text objects -> WGSL modules. Begin finds what decides text for the variant as a whole and what
// is wrong with it; then each entry point, or all together, can be written. See spec/wgsl 3.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/emit/wgsl/describe.h"
#include "compiler/emit/wgsl/module_needs.h"
#include "compiler/emit/wgsl/object_table.h"
#include "compiler/emit/wgsl/variant_facts.h"
#include "compiler/ir/specialised.h"
#include "compiler/layout/ir_types.h"
#include "compiler/layout/layout.h"

namespace kiln::wgsl {

// Of one variant at a time; keeps nothing that the table does not keep.
class Assembler {
 public:
  // Both must outlive it.
  Assembler(ObjectTable& table, layout::TypeLayouts& layouts) : table_(table), layouts_(layouts) {}

  // Prepares a variant, which must outlive the calls of Write. The findings are those of emission;
  // with an error among them nothing can be written. Locations have module and span number.
  // Requires: the interface and the regions of the variant are in the table, or `Prepare` was
  // called.
  std::vector<Diagnostic> Begin(const ir::SpecialisedProgram& variant,
                                const layout::Layout& layout);

  // Entry points whose functions alone are larger than a module may be; then nothing can be written
  // or described.
  std::span<const uint32_t> oversized() const { return oversized_; }

  // The module of an entry point, by its number; of all of them: nothing.
  std::string Write(std::optional<uint32_t> entry) const;

  // What an engine is told about the modules.
  VariantDescription Description() const;

  const VariantFacts& facts() const { return facts_; }
  std::span<const ModuleNeeds> needs() const { return needs_; }

 private:
  void FindOversized();

  ObjectTable& table_;
  layout::TypeLayouts& layouts_;
  const ir::SpecialisedProgram* variant_ = nullptr;
  const layout::Layout* layout_ = nullptr;
  VariantFacts facts_;
  std::vector<ModuleNeeds> needs_;  // by entry point
  std::vector<uint32_t> oversized_;
};

// All modules of a variant with memory of their own, for tools and tests.
struct EmittedModules {
  std::vector<std::string> modules;  // by entry point; one if combined
  std::vector<uint32_t> oversized;   // entry points, as Assembler has them; then no modules
};
Diagnosed<EmittedModules> Emit(const ir::SpecialisedProgram& variant, const layout::Layout& layout,
                               layout::TypeLayouts& layouts, bool combined = false,
                               uint32_t most_bytes = LanguageLimits{}.spirv_bytes);

}  // namespace kiln::wgsl
