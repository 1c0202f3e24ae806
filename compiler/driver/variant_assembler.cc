// SPDX-License-Identifier: MIT
#include "compiler/driver/variant_assembler.h"

#include <deque>
#include <utility>

#include "compiler/driver/memo_units.h"
#include "compiler/driver/reads.h"
#include "compiler/driver/stages.h"
#include "compiler/emit/metadata/write.h"
#include "compiler/emit/spirv/assemble.h"
#include "compiler/emit/spirv/lower.h"
#include "compiler/layout/assign.h"

namespace kiln::driver {

struct VariantAssembler::State {
  State(const LinkedProgram& program, std::span<const resolve::EntryPoint> entry_points,
        const target::Target& for_target)
      : linked(program),
        entries(entry_points.begin(), entry_points.end()),
        target(for_target),
        modules(ModuleFactsOf(program)),
        units(program.program),
        values{std::vector<uint32_t>(program.program.option_count())},
        answers(program.program, values, pool, &units),
        types(pool),
        table(pool, target) {}

  void Close();
  void Emit(const ir::ClosedVariant& variant, const layout::Layout& layout);

  const LinkedProgram& linked;
  const std::vector<resolve::EntryPoint> entries;
  const target::Target target;
  const std::vector<metadata::ModuleFacts> modules;

  ir::Pool pool;
  MemoUnits units;
  resolve::OptionValues values;
  resolve::Answers answers;
  layout::TypeLayouts types;
  spirv::PieceTable table;
  std::deque<spirv::Assembler> assemblers;  // one for each module of a variant

  // Of the last variant.
  Bitset reads;
  std::vector<Diagnostic> diagnostics;
  std::vector<StageWords> code;
  metadata::Metadata written;
  VariantView view;
};

void VariantAssembler::State::Close() {
  const resolve::Program& program = linked.program;
  view = {};
  answers.Reset(values);
  answers.BeginReads();
  Diagnosed<ir::ClosedVariant> closed = resolve::CloseVariant(program, entries, answers, units);
  reads = answers.EndReads();
  diagnostics = std::move(closed.diagnostics);
  if (closed.value.has_value()) {
    Diagnosed<layout::Layout> layout = layout::Assign(*closed.value, target, types);
    diagnostics.insert(diagnostics.end(), layout.diagnostics.begin(), layout.diagnostics.end());
    if (layout.value.has_value()) {
      Emit(*closed.value, *layout.value);
    }
  }
  if (!diagnostics.empty()) {
    FillPositions(program, diagnostics);
    SortAndMerge(diagnostics);
  }
  view.reads = &reads;
  view.diagnostics = diagnostics;
}

void VariantAssembler::State::Emit(const ir::ClosedVariant& variant, const layout::Layout& layout) {
  code.clear();
  target::Needs needs = 0;
  if (!variant.entries.empty()) {
    spirv::Prepare(variant, table);
    const auto count = static_cast<uint32_t>(target.combined ? 1 : variant.entries.size());
    while (assemblers.size() < count) {
      assemblers.emplace_back(table);
    }
    for (uint32_t i = 0; i < count; ++i) {
      const std::span<const uint32_t> words =
          assemblers[i].Assemble(variant, {.index = i, .combined = target.combined}, layout);
      code.push_back(
          {.stage = target.combined ? std::nullopt : std::optional(variant.entries[i].stage),
           .words = words});
      needs |= assemblers[i].needs();
    }
  }
  written = metadata::Write(variant, layout, target, types, modules, needs);
  view.ok = true;
  view.code = code;
  view.metadata = written.bytes;
  view.layout_hash = written.layout_hash;
  view.state_hash = HashBytes(written.bytes);
}

VariantAssembler::VariantAssembler(const LinkedProgram& linked,
                                   std::span<const resolve::EntryPoint> entries,
                                   const target::Target& target)
    : state_(std::make_unique<State>(linked, entries, target)) {}

VariantAssembler::~VariantAssembler() = default;

const VariantView& VariantAssembler::Build(const resolve::OptionValues& values) {
  state_->values.bits.assign(values.bits.begin(), values.bits.end());
  state_->Close();
  return state_->view;
}

BuildResult VariantAssembler::BuildCopy(const resolve::OptionValues& values) {
  const VariantView& view = Build(values);
  BuildResult result{.products = std::nullopt,
                     .reads = ReadsOf(state_->linked.program, values, *view.reads),
                     .diagnostics = {view.diagnostics.begin(), view.diagnostics.end()}};
  if (view.ok) {
    Products& products = result.products.emplace();
    for (const StageWords& stage : view.code) {
      products.code.push_back(
          {.stage = stage.stage, .words = {stage.words.begin(), stage.words.end()}});
    }
    products.metadata.assign(view.metadata.begin(), view.metadata.end());
    products.layout_hash = view.layout_hash;
    products.state_hash = view.state_hash;
  }
  return result;
}

size_t VariantAssembler::segment_versions() const { return state_->units.segment_versions(); }
size_t VariantAssembler::decl_versions() const { return state_->units.decl_versions(); }

}  // namespace kiln::driver
