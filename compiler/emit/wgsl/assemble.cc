// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/assemble.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/emit/wgsl/module_writer.h"
#include "compiler/emit/wgsl/typed/typed_checks.h"
#include "compiler/emit/wgsl/typed/typed_writer.h"
#include "compiler/emit/wgsl/variant_checks.h"

namespace kiln::wgsl {

// Everything that one module could need to know of another is found here, before any text is
// written: what is atomic, which samplers compare, who discards. So modules can be written in any
// order, and a module that is not asked for costs nothing more.
std::vector<Diagnostic> Assembler::Begin(const ir::SpecialisedProgram& variant,
                                         const layout::Layout& layout) {
  variant_ = &variant;
  layout_ = &layout;
  facts_ = FactsOf(variant, table_);
  // An assembler serves many variants, one after the other.
  needs_.clear();
  FindOversized();
  if (!oversized_.empty()) {
    return {};
  }
  for (const LiveEntry& entry : facts_.entries) {
    AddNeeds(entry, facts_.atomics, table_, needs_.emplace_back());
  }
  std::vector<Diagnostic> found = CheckVariant(
      {.variant = variant, .layout = layout, .facts = facts_, .needs = needs_, .table = table_});
  if (table_.types().typed) {
    std::vector<Diagnostic> more = CheckBuffers(variant, needs_, table_.types(), layouts_);
    std::ranges::move(more, std::back_inserter(found));
  }
  return found;
}

// Nothing else is asked of functions that no module has room for.
void Assembler::FindOversized() {
  oversized_.clear();
  for (uint32_t i = 0; i < facts_.entries.size(); ++i) {
    uint64_t bytes = 0;
    for (const LiveFunction& function : facts_.entries[i].functions) {
      bytes += table_.LeastBytes(*function.ref, facts_.atomics);
      if (bytes > table_.most_bytes()) {
        oversized_.push_back(i);
        break;
      }
    }
  }
}

// Asked for metadata, and independent of which modules are written.
VariantDescription Assembler::Description() const {
  KILN_CHECK(variant_ != nullptr, "no variant was begun");
  return Describe({.variant = *variant_,
                   .layout = *layout_,
                   .facts = facts_,
                   .needs = needs_,
                   .table = table_});
}

// Without an entry all of them are written into one module.
std::string Assembler::Write(std::optional<uint32_t> entry) const {
  KILN_CHECK(variant_ != nullptr && oversized_.empty(), "no variant was begun");
  return WriteModule({.variant = *variant_,
                      .layout = *layout_,
                      .facts = facts_,
                      .needs = needs_,
                      .table = table_,
                      .layouts = layouts_},
                     entry);
}

Diagnosed<EmittedModules> Emit(const ir::SpecialisedProgram& variant, const layout::Layout& layout,
                               layout::TypeLayouts& layouts, bool combined, uint32_t most_bytes) {
  // For one variant everything is made anew; an assembler of many variants keeps the table.
  if (IsTyped(variant)) {
    if (std::vector<Diagnostic> faults = CheckTyped(variant); !faults.empty()) {
      return {.value = std::nullopt, .diagnostics = std::move(faults)};
    }
  }
  ObjectTable table(*variant.pool, most_bytes);
  table.Prepare(variant);
  Assembler assembler(table, layouts);
  Diagnosed<EmittedModules> emitted;
  emitted.diagnostics = assembler.Begin(variant, layout);
  // A finding may stand for text that was not made, so with an error nothing is written (spec/wgsl
  // 1.4).
  if (HasErrors(emitted.diagnostics)) {
    return emitted;
  }
  EmittedModules& made = emitted.value.emplace();
  made.oversized.assign(assembler.oversized().begin(), assembler.oversized().end());
  if (!made.oversized.empty()) {
    return emitted;
  }
  // All entry points in one module, or a module for each.
  const auto count = static_cast<uint32_t>(combined ? 1 : variant.entries.size());
  for (uint32_t i = 0; i < count; ++i) {
    made.modules.push_back(assembler.Write(combined ? std::nullopt : std::optional(i)));
  }
  return emitted;
}

}  // namespace kiln::wgsl
