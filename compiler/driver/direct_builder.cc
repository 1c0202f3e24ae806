// SPDX-License-Identifier: MIT
#include "compiler/driver/direct_builder.h"

#include <iterator>
#include <optional>
#include <utility>

#include "compiler/artifact/state_hash.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/driver/output_limits.h"
#include "compiler/driver/program_lines.h"
#include "compiler/driver/reads.h"
#include "compiler/driver/stages.h"
#include "compiler/driver/wgsl_code.h"
#include "compiler/emit/metadata/write.h"
#include "compiler/emit/spirv/assemble.h"
#include "compiler/emit/spirv/lower.h"
#include "compiler/layout/rpl_adapter.h"
#include "compiler/resolve/specialise/specialise_decl.h"
#include "compiler/resolve/specialise/specialise_program.h"
#include "compiler/resolve/specialise/specialise_region.h"

namespace kiln::driver {
namespace {

// 16 MiB. Code objects of types, constants and declarations of past variants are never given up one
// by one; beyond this it is cheaper to make again what is needed.
constexpr size_t kTableBytes = size_t{16} << 20;  // of code objects; then they begin from nothing

// Code objects of the variant in progress, and those of types, constants and fixed declarations.
struct CodeTables {
  CodeTables(const ir::Pool& pool, const target::Target& target, const LanguageLimits& limits)
      : table(pool, target, limits.spirv_bytes), assembler(table) {}
  spirv::CodeObjectTable table;
  spirv::Assembler assembler;
};

}  // namespace

// What another variant left is specialised anew, in the same memory. The address is a key of the
// table of code objects, so the declaration is noted as replaced, and the table lowers it again.
const Diagnosed<ir::SpecialisedDecl>& DirectUnits::Decl(ir::DeclId decl,
                                                        resolve::VariantEvaluator& answers) {
  DirectUnit<ir::SpecialisedDecl>& row = decls_[decl.value];
  if (row.variant != variant_) {
    Diagnosed<ir::SpecialisedDecl> specialised = resolve::SpecialiseDecl(program_, decl, answers);
    if (row.unit == nullptr) {
      row.unit = &specialised_decls_.emplace_back(std::move(specialised));
    } else {
      *row.unit = std::move(specialised);
      if (row.unit->value.has_value()) {
        replaced_.push_back(&*row.unit->value);
      }
    }
    row.variant = variant_;
  }
  return *row.unit;
}

// A region may differ by stage and by version of its function, and this path remembers none of
// them: the row is only the place in memory where the region of this variant goes.
const Diagnosed<ir::SpecialisedRegion>& DirectUnits::Region(ir::RegionId region,
                                                            resolve::VariantEvaluator& answers) {
  const auto stage = static_cast<size_t>(answers.stage());
  const ir::DeclId version = answers.current_version();
  DirectUnit<ir::SpecialisedRegion>& row =
      version.valid() ? versions_[{region.value, version.value, static_cast<uint32_t>(stage)}]
                      : regions_[region.value].by_stage[stage];
  if (row.variant != variant_) {
    if (row.unit == nullptr) {
      row.unit = &specialised_regions_.emplace_back();
    }
    resolve::SpecialiseRegion(program_, region, answers, *row.unit);
    row.variant = variant_;
  }
  return *row.unit;
}

// Nothing is cleared: rows of another variant are recognised by its number.
void DirectUnits::Forget() {
  ++variant_;
  ForgetWalks();
}

struct DirectBuilder::State {
  State(const LinkedProgram& program, std::span<const resolve::EntryPoint> entry_points,
        const target::Target& for_target)
      : linked(program),
        entries(entry_points.begin(), entry_points.end()),
        target(for_target),
        units(program.program),
        values{std::vector<uint32_t>(program.program.option_count())},
        answers(program.program, values, pool, &units),
        types(pool),
        lines(program, for_target.debug),
        modules(ModuleFactsOf(program)) {}

  BuildResult Build();
  // Nothing if what came out is too large.
  std::optional<Products> Emit(const layout::Layout& layout, std::vector<Diagnostic>& diagnostics);
  // False: the variant has no WGSL form, or what came out is too large.
  bool EmitText(const layout::Layout& layout, Products& products, Bytes& about,
                std::vector<Diagnostic>& diagnostics);
  target::Needs EmitCode(const layout::Layout& layout, std::vector<StageCode>& stages,
                         std::vector<Diagnostic>& diagnostics);

  const LinkedProgram& linked;
  const std::vector<resolve::EntryPoint> entries;
  const target::Target target;

  ir::Pool pool;
  DirectUnits units;
  resolve::OptionValues values;
  resolve::VariantEvaluator answers;
  layout::TypeLayouts types;
  const ProgramLines lines;
  const std::vector<metadata::ModuleFacts> modules;
  std::optional<CodeTables> code;  // made when there is an entry point
  ir::SpecialisedProgram variant;  // the last one
  bool fits = true;                // it is within the limits of outputs
};

target::Needs DirectBuilder::State::EmitCode(const layout::Layout& layout,
                                             std::vector<StageCode>& stages,
                                             std::vector<Diagnostic>& diagnostics) {
  // Metadata only. What was replaced is still noted and must not reach the next variant.
  if (variant.entries.empty()) {
    units.replaced().clear();
    return 0;
  }
  // Only between variants: what the last one used is not needed any more.
  if (code.has_value() && code->table.store().bytes_used() > kTableBytes) {
    code.reset();
  }
  if (!code.has_value()) {
    code.emplace(pool, target, linked.program.limits());
    code->table.UseSources(&lines);
  }
  // Code objects of the last variant's regions go; those of fixed declarations and of types stay
  // (CodeObjectTable::Forget).
  code->table.Forget(units.replaced());
  units.replaced().clear();
  code->assembler.Forget();
  if (!CheckCode(linked.program, variant, spirv::Prepare(variant, code->table), target,
                 diagnostics)) {
    fits = false;
    return 0;
  }
  target::Needs needs = 0;
  // A combined target has one module with all entry points in it.
  const auto count = static_cast<uint32_t>(target.combined ? 1 : variant.entries.size());
  for (uint32_t i = 0; i < count; ++i) {
    const spirv::EntryChoice choice{.index = i, .combined = target.combined};
    const std::span<const uint32_t> words = code->assembler.Assemble(variant, choice, layout);
    // All modules are checked and reported, also behind the first that is too large.
    fits = CheckModule(linked.program, variant, choice, SizeOf(words, code->assembler.width()),
                       diagnostics) &&
           fits;
    StageCode& stage = stages.emplace_back();
    // The words lie in memory of the assembler, which the next module overwrites.
    stage.words.assign(words.begin(), words.end());
    if (!target.combined) {
      stage.stage = variant.entries[i].stage;
    }
    needs |= code->assembler.needs();
  }
  return needs;
}

// Text objects are made anew for each variant: this path is the oracle, and it must not share what
// the other one remembers.
bool DirectBuilder::State::EmitText(const layout::Layout& layout, Products& products, Bytes& about,
                                    std::vector<Diagnostic>& diagnostics) {
  units.replaced().clear();
  WgslCode wgsl(pool, types, linked.program.limits());
  const WgslVariant& made = wgsl.Build(variant, layout, target.combined, {});
  diagnostics.insert(diagnostics.end(), made.diagnostics.begin(), made.diagnostics.end());
  for (uint32_t i = 0; i < made.modules.size(); ++i) {
    const std::string& text = wgsl.TextOf(made, i);
    fits = CheckModule(linked.program, variant, {.index = i, .combined = target.combined},
                       SizeOf(text), diagnostics) &&
           fits;
    StageCode& stage = products.code.emplace_back();
    stage.text = text;
    if (!target.combined) {
      stage.stage = variant.entries[i].stage;
    }
  }
  fits = CheckCode(linked.program, variant, made.oversized, target, diagnostics) && fits;
  about = made.metadata;
  return made.ok && fits;
}

// Code first, because metadata says what the code needs; then metadata, then the digests of both.
// If anything is too large nothing is handed out: the diagnostics say what.
std::optional<Products> DirectBuilder::State::Emit(const layout::Layout& layout,
                                                   std::vector<Diagnostic>& diagnostics) {
  Products products;
  fits = true;
  target::Needs needs = 0;
  Bytes wgsl;  // what metadata says about it
  if (target.form == target::Form::kSpirv) {
    needs = EmitCode(layout, products.code, diagnostics);
  } else if (!EmitText(layout, products, wgsl, diagnostics)) {
    return std::nullopt;
  }
  metadata::Metadata written = metadata::Write(variant, layout, target, types, modules, needs, wgsl,
                                               linked.program.limits().metadata_bytes);
  fits = CheckMetadata(linked.program, written.fits, diagnostics) && fits;
  if (!fits) {
    return std::nullopt;
  }
  products.state_hash = artifact::StateHash(written.bytes);
  products.metadata = std::move(written.bytes);
  products.layout_hash = written.layout_hash;
  return products;
}

BuildResult DirectBuilder::State::Build() {
  const resolve::Program& program = linked.program;
  units.Forget();
  answers.Reset(values);
  answers.BeginReads();
  BuildResult result;
  // What was read is told for variants that fail as well: whoever remembers the failure needs to
  // know for which values it holds.
  const bool specialised =
      resolve::SpecialiseVariant(program, entries, answers, units, variant, result.diagnostics);
  result.reads = ReadsOf(program, values, answers.EndReads());
  if (specialised) {
    Diagnosed<layout::Layout> layout = layout::Assign(variant, target, types);
    // Diagnostics of the layout stay even if there is no layout: they say why.
    result.diagnostics.insert(result.diagnostics.end(),
                              std::make_move_iterator(layout.diagnostics.begin()),
                              std::make_move_iterator(layout.diagnostics.end()));
    if (layout.value.has_value()) {
      result.products = Emit(*layout.value, result.diagnostics);
    }
  }
  FillPositions(program, result.diagnostics);
  SortAndMerge(result.diagnostics);
  return result;
}

DirectBuilder::DirectBuilder(const LinkedProgram& linked,
                             std::span<const resolve::EntryPoint> entries,
                             const target::Target& target)
    : state_(std::make_unique<State>(linked, entries, target)) {}

DirectBuilder::~DirectBuilder() = default;

BuildResult DirectBuilder::Build(const resolve::OptionValues& values) {
  state_->values.bits.assign(values.bits.begin(), values.bits.end());
  return state_->Build();
}

}  // namespace kiln::driver
