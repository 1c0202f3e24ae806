// SPDX-License-Identifier: MIT
#include "compiler/driver/variant_assembler.h"

#include <array>
#include <deque>
#include <utility>

#include "compiler/artifact/state_hashes.h"
#include "compiler/base/check.h"
#include "compiler/base/flat_map.h"
#include "compiler/base/hash/digests_of.h"
#include "compiler/driver/assembler/cached_units.h"
#include "compiler/driver/assembler/code_cache.h"
#include "compiler/driver/assembler/result_index.h"
#include "compiler/driver/output_limits.h"
#include "compiler/driver/program_lines.h"
#include "compiler/driver/reads.h"
#include "compiler/driver/stages.h"
#include "compiler/driver/wgsl_code.h"
#include "compiler/emit/metadata/write.h"
#include "compiler/emit/spirv/assemble.h"
#include "compiler/layout/layout_cache.h"
#include "compiler/layout/rpl_adapter.h"
#include "compiler/resolve/specialise/specialiser_cache.h"

namespace kiln::driver {

namespace {

constexpr uint32_t kKnown = 0xFFFFFFFF;

// What follows from the live declarations of the interface, and from the size of workgroups.
struct Interface {
  std::vector<const ir::SpecialisedDecl*> decls;
  std::array<uint32_t, 3> workgroup_size{};  // of compute pipelines
  std::array<uint32_t, 3> io{};              // interfaces of the entry points, by stage
  Diagnosed<layout::Layout> layout;
  Hash128 layout_hash;
  std::optional<Hash128> content;  // if it was asked for
  uint32_t number = 0;
  bool prepared = false;  // for code
};

}  // namespace

struct VariantAssembler::State {
  State(const LinkedProgram& program, std::span<const resolve::EntryPoint> entry_points,
        const target::Target& for_target, std::unique_ptr<CodeCache> memory)
      : linked(program),
        entries(entry_points.begin(), entry_points.end()),
        target(for_target),
        lines(program, for_target.debug),
        code_cache(std::move(memory)),
        units(program.program),
        values{std::vector<uint32_t>(program.program.option_count())},
        answers(program.program, values, code_cache->pool(), &units),
        layouts(target, code_cache->types()),
        assembler(code_cache->table()),
        metadata(target, code_cache->types(), ModuleFactsOf(program),
                 program.program.limits().metadata_bytes),
        reads(program.program.option_count()) {
    code_cache->table().UseSources(&lines);
    if (target.form == target::Form::kWgsl) {
      wgsl.emplace(code_cache->pool(), code_cache->types(), program.program.limits());
    }
  }

  bool Specialise();
  void Build(bool specialised, ModuleSelection wanted);
  BuildResult Copy(std::vector<OptionRead> read) const;
  Interface& InterfaceOf();
  void Emit(Interface& interface, ModuleSelection wanted);
  void EmitCode(Interface& interface, ModuleSelection wanted);
  ByteView EmitText(Interface& interface, ModuleSelection wanted);
  StageWords EmitStage(spirv::EntryChoice choice, Interface& interface, ModuleSelection wanted);
  StageWords WriteStage(spirv::EntryChoice choice, const layout::Layout& layout,
                        ModuleSelection wanted, const Hash128* id = nullptr);
  void MakeDigests();

  const LinkedProgram& linked;
  const std::vector<resolve::EntryPoint> entries;
  const target::Target target;

  const ProgramLines lines;
  std::unique_ptr<CodeCache> code_cache;
  CachedUnits units;
  resolve::OptionValues values;
  resolve::VariantEvaluator answers;
  layout::LayoutCache layouts;
  std::deque<Interface> interfaces;  // stable addresses
  InternIndex interface_index;       // by decls
  spirv::Assembler assembler;
  std::optional<WgslCode> wgsl;  // of targets of that form
  metadata::MetadataWriter metadata;
  artifact::StateHashes states;
  const size_t earlier_modules = code_cache->modules().count();  // of programs before an edit
  size_t modules_written = 0;
  ResultIndex results;
  bool by_content = false;  // modules are known by what they are made of
  ModuleDigests digests = ModuleDigests::kMade;

  // Of the last variant; memory is kept.
  ir::SpecialisedProgram variant;
  Bitset reads;
  std::vector<Diagnostic> diagnostics;
  std::vector<StageWords> code;
  std::vector<uint32_t> numbers;  // of its modules; kKnown: known by content, with a digest
  Digest metadata_content;        // if it was asked for
  ModuleSize size;                // of the last module
  bool fits = true;               // all are within the limits of outputs
  target::Needs needs = 0;        // of all modules
  VariantView view;
};

// False: the sources are wrong for this variant. Tells what it reads in either case.
bool VariantAssembler::State::Specialise() {
  view = {};
  answers.Reset(values);
  reads.Clear();
  answers.BeginReads();
  const bool specialised =
      resolve::SpecialiseVariant(linked.program, entries, answers, units, variant, diagnostics);
  answers.EndReads(reads);
  return specialised;
}

// Specialising has told what this variant is made of; everything behind it is looked up by that:
// layout by the declarations of the interface, code by regions, modules by the functions in them.
// So a variant that has all its parts in common with earlier ones costs their lookup and the
// copying of words. Diagnostics of the layout are added although there may be none of the sources:
// both are the variant's.
void VariantAssembler::State::Build(bool specialised, ModuleSelection wanted) {
  if (specialised) {
    Interface& interface = InterfaceOf();
    const std::vector<Diagnostic>& found = interface.layout.diagnostics;
    diagnostics.insert(diagnostics.end(), found.begin(), found.end());
    if (interface.layout.value.has_value()) {
      Emit(interface, wanted);
    }
  }
  if (!diagnostics.empty()) {
    FillPositions(linked.program, diagnostics);
    SortAndMerge(diagnostics);
  }
  // The number of the result is found even if nothing came out: failures are results as well.
  view.result = results.Add(reads, answers.options_in_order(), values);
  view.reads = &reads;
  view.diagnostics = diagnostics;
}

// Specialised declarations are kept by `units` and never move, so equal addresses are equal
// declarations, and a list of addresses is a key. The hash may differ from run to run; nothing is
// ever ordered by it.
Interface& VariantAssembler::State::InterfaceOf() {
  const bool compute = variant.pipeline == ir::PipelineType::kCompute;
  const auto workgroup_size = compute ? layout::WorkgroupSize(variant) : std::array<uint32_t, 3>{};
  std::array<uint32_t, 3> io{};
  uint64_t hash = variant.interface.size();
  for (const ir::EntryRef& entry : variant.entries) {
    // An entry point of a typed module brings its own rows. Their number is part of the key, since
    // layout depends on them.
    io[static_cast<size_t>(entry.stage)] = entry.interface;
    // Zero says that the entry point brings no rows, and must not change the hash of a program
    // without typed modules.
    hash = entry.interface == 0 ? hash : Mix64(hash ^ entry.interface);
  }
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    hash = Mix64(hash ^ reinterpret_cast<uintptr_t>(decl));
  }
  const uint32_t row = interface_index.FindOrAdd(
      hash,
      [&](uint32_t i) {
        return interfaces[i].decls == variant.interface &&
               interfaces[i].workgroup_size == workgroup_size && interfaces[i].io == io;
      },
      [&] {
        Interface& added = interfaces.emplace_back();
        added.decls = variant.interface;
        added.workgroup_size = workgroup_size;
        added.io = io;
        added.number = static_cast<uint32_t>(interfaces.size());
        // The layout is made once for all variants with this interface; its hash, too.
        added.layout = layouts.Assign(variant);
        if (added.layout.value.has_value()) {
          added.layout_hash = metadata.LayoutHash(variant, *added.layout.value);
        }
        return static_cast<uint32_t>(interfaces.size() - 1);
      });
  return interfaces[row];
}

// Modules are found in two ways (ModuleCache). By key: functions and interface of this program,
// which is fastest where one program has many variants. By content (`by_content`): ids of what the
// module is made of survive an edit of the sources, so the daemon asks by them, and an edit that
// changed nothing in a module finds it again.
StageWords VariantAssembler::State::EmitStage(spirv::EntryChoice choice, Interface& interface,
                                              ModuleSelection wanted) {
  const layout::Layout& layout = *interface.layout.value;
  if (!by_content) {
    return WriteStage(choice, layout, wanted);
  }
  if (!interface.content.has_value()) {
    // Computed when it is first asked for, because only the daemon asks.
    interface.content = code_cache->content().Of(interface.decls, layout, interface.workgroup_size);
  }
  const Hash128 id = code_cache->ModuleId(variant, choice, *interface.content);
  const WrittenModule* known = code_cache->modules().Find(id);
  // A module that was written for an earlier edit: its digest is enough, as the store has its
  // bytes.
  if (known != nullptr && known->content != Digest{} && wanted == ModuleSelection::kNew) {
    needs |= known->needs;
    size = known->size;
    numbers.push_back(kKnown);
    return {.content = known->content};
  }
  return WriteStage(choice, layout, wanted, &id);
}

// `id`: of its content, if it shall be found by that.
StageWords VariantAssembler::State::WriteStage(spirv::EntryChoice choice,
                                               const layout::Layout& layout, ModuleSelection wanted,
                                               const Hash128* id) {
  ModuleCache& modules = code_cache->modules();
  const uint32_t number = modules.NumberOf(assembler.Collect(variant, choice, layout));
  StageWords stage{.is_new = !modules.IsWritten(number)};
  const bool has_digest = digests == ModuleDigests::kLeftOut || modules.HasDigest(number);
  // The caller wants words of known modules only when it has no store that could give them.
  if (stage.is_new || !has_digest || wanted == ModuleSelection::kAll) {
    stage.words = modules.WordsOf(number);
    if (stage.words.empty()) {
      stage.words = assembler.Write(variant, choice, layout);
      modules.Keep(number, stage.words);
    }
    ++modules_written;
  }
  // The digest is made when all of the variant is there (MakeDigests).
  if (stage.is_new) {
    modules.SetWritten(number, {.content = {},
                                .needs = assembler.needs(),
                                .size = SizeOf(stage.words, assembler.width())});
  }
  numbers.push_back(number);
  if (id != nullptr) {
    modules.SetContent(*id, number);
  }
  needs |= modules[number].needs;
  size = modules[number].size;
  stage.content = modules[number].content;
  return stage;
}

// A digest is computed for each module once; its number finds it again. What is new in a variant,
// and its metadata for those who keep them, is hashed together, which takes little longer than the
// longest of them alone.
void VariantAssembler::State::MakeDigests() {
  ModuleCache& modules = code_cache->modules();
  std::vector<ByteView> contents;
  std::vector<uint32_t> hashed;  // numbers of the modules among them
  for (size_t i = 0; i < code.size(); ++i) {
    if (numbers[i] != kKnown && !modules.HasDigest(numbers[i])) {
      contents.push_back(code[i].text.empty() ? std::as_bytes(code[i].words)
                                              : AsBytes(code[i].text));
      hashed.push_back(numbers[i]);
    }
  }
  const bool with_metadata = by_content;  // for whoever keeps it
  if (with_metadata) {
    contents.push_back(view.metadata);
  }
  std::vector<Digest> made(contents.size());
  DigestsOf(contents, made);
  for (size_t i = 0; i < hashed.size(); ++i) {
    modules.SetDigest(hashed[i], made[i]);
  }
  for (size_t i = 0; i < code.size(); ++i) {
    if (numbers[i] != kKnown) {
      code[i].content = modules[numbers[i]].content;
    }
  }
  metadata_content = with_metadata ? made.back() : Digest{};
}

void VariantAssembler::State::EmitCode(Interface& interface, ModuleSelection wanted) {
  if (!interface.prepared) {
    code_cache->PrepareInterface(interface.decls);
    interface.prepared = true;
  }
  if (!CheckCode(linked.program, variant, code_cache->PrepareFunctions(variant), target,
                 diagnostics)) {
    fits = false;
    return;
  }
  const auto count = static_cast<uint32_t>(target.combined ? 1 : variant.entries.size());
  for (uint32_t i = 0; i < count; ++i) {
    const spirv::EntryChoice choice{.index = i, .combined = target.combined};
    code.push_back(EmitStage(choice, interface, wanted));
    fits = CheckModule(linked.program, variant, choice, size, diagnostics) && fits;
    if (!target.combined) {
      code.back().stage = variant.entries[i].stage;
    }
  }
}

// Facts of a variant and modules are known by the functions and the interface that they rest on.
ByteView VariantAssembler::State::EmitText(Interface& interface, ModuleSelection wanted) {
  ModuleCache& modules = code_cache->modules();
  const WgslVariant& made =
      wgsl->Build(variant, *interface.layout.value, target.combined, interface.number);
  diagnostics.insert(diagnostics.end(), made.diagnostics.begin(), made.diagnostics.end());
  fits = CheckCode(linked.program, variant, made.oversized, target, diagnostics) && made.ok;
  for (uint32_t i = 0; i < made.modules.size(); ++i) {
    // The text objects number modules themselves, densely.
    const bool is_new = !modules.IsWritten(made.modules[i]);
    const std::string& text = wgsl->TextOf(made, i);
    if (is_new) {
      modules.SetWritten(made.modules[i], {.content = {}, .size = SizeOf(text)});
    }
    numbers.push_back(made.modules[i]);
    StageWords stage{.content = modules[made.modules[i]].content, .is_new = is_new};
    const bool has_digest =
        digests == ModuleDigests::kLeftOut || modules.HasDigest(made.modules[i]);
    if (is_new || !has_digest || wanted == ModuleSelection::kAll) {
      stage.text = text;
      ++modules_written;
    }
    if (!target.combined) {
      stage.stage = variant.entries[i].stage;
    }
    fits = CheckModule(linked.program, variant, {.index = i, .combined = target.combined},
                       modules[made.modules[i]].size, diagnostics) &&
           fits;
    code.push_back(stage);
  }
  return made.metadata;
}

void VariantAssembler::State::Emit(Interface& interface, ModuleSelection wanted) {
  code.clear();
  numbers.clear();
  needs = 0;
  fits = true;
  ByteView about;  // what metadata says about modules of WGSL
  if (wgsl.has_value()) {
    about = EmitText(interface, wanted);
    if (!fits) {
      return;
    }
  } else if (!variant.entries.empty()) {
    EmitCode(interface, wanted);
  }
  const std::optional<ByteView> written =
      metadata.Write(variant, *interface.layout.value, interface.layout_hash, needs, about);
  fits = CheckMetadata(linked.program, written.has_value(), diagnostics) && fits;
  if (!fits) {
    return;
  }
  view.ok = true;
  view.metadata = *written;
  if (digests == ModuleDigests::kMade) {
    MakeDigests();
  }
  view.code = code;
  view.layout_hash = interface.layout_hash;
  view.state_hash = states.Of(view.metadata);
}

VariantAssembler::VariantAssembler(const LinkedProgram& linked,
                                   std::span<const resolve::EntryPoint> entries,
                                   const target::Target& target)
    : state_(std::make_unique<State>(linked, entries, target,
                                     std::make_unique<CodeCache>(linked.program, target))) {}

// The former assembler gives up its code and keeps nothing: the cache belongs to one assembler at a
// time.
VariantAssembler::VariantAssembler(const LinkedProgram& linked,
                                   std::span<const resolve::EntryPoint> entries,
                                   const target::Target& target, VariantAssembler&& former) {
  KILN_CHECK(former.CanServe(linked), "an assembler of other declarations");
  std::unique_ptr<CodeCache> memory = std::move(former.state_->code_cache);
  former.state_.reset();
  memory->Serve(linked.program);
  state_ = std::make_unique<State>(linked, entries, target, std::move(memory));
}

VariantAssembler::~VariantAssembler() = default;

const VariantView& VariantAssembler::Build(const resolve::OptionValues& values,
                                           ModuleSelection wanted, ModuleDigests digests) {
  state_->values.bits.assign(values.bits.begin(), values.bits.end());
  state_->digests = digests;
  state_->Build(state_->Specialise(), wanted);
  return state_->view;
}

bool VariantAssembler::CanServe(const LinkedProgram& linked) const {
  return state_->code_cache->CanServe(linked.program);
}

std::optional<uint32_t> VariantAssembler::Find(const resolve::OptionValues& values) const {
  return state_->results.Find(values);
}

// The view is memory of the assembler; a copy may leave its thread.
BuildResult VariantAssembler::State::Copy(std::vector<OptionRead> read) const {
  BuildResult result{.products = std::nullopt,
                     .reads = std::move(read),
                     .diagnostics = {view.diagnostics.begin(), view.diagnostics.end()}};
  if (view.ok) {
    Products& products = result.products.emplace();
    products.code.reserve(view.code.size());
    for (const StageWords& stage : view.code) {
      products.code.push_back({.stage = stage.stage,
                               .words = {stage.words.begin(), stage.words.end()},
                               .text = std::string(stage.text),
                               .content = stage.content});
    }
    products.metadata.assign(view.metadata.begin(), view.metadata.end());
    products.metadata_content = metadata_content;
    products.layout_hash = view.layout_hash;
    products.state_hash = view.state_hash;
  }
  return result;
}

BuildResult VariantAssembler::BuildCopy(const resolve::OptionValues& values,
                                        ModuleSelection wanted) {
  return *BuildUnless([](std::span<const OptionRead>) { return false; }, values, wanted);
}

// What a variant reads is known before any code is made of it. The caller may find that it has the
// result for these values already, in a store, and then nothing more is done.
std::optional<BuildResult> VariantAssembler::BuildUnless(const IsKnown& is_known,
                                                         const resolve::OptionValues& values,
                                                         ModuleSelection wanted) {
  state_->values.bits.assign(values.bits.begin(), values.bits.end());
  const bool specialised = state_->Specialise();
  std::vector<OptionRead> read = ReadsOf(state_->linked.program, values, state_->reads);
  if (is_known(read)) {
    return std::nullopt;
  }
  // Only here modules are known by content: a digest that is handed on must be one that the
  // caller's store may have.
  state_->by_content = true;
  state_->digests = ModuleDigests::kMade;
  state_->Build(specialised, wanted);
  state_->by_content = false;
  return state_->Copy(std::move(read));
}

VariantAssembler::Counts VariantAssembler::counts() const {
  return {.results = state_->results.size(),
          .modules = state_->code_cache->modules().count() - state_->earlier_modules,
          .region_versions = state_->units.region_versions(),
          .decl_versions = state_->units.decl_versions(),
          .regions_lowered = state_->code_cache->lowered().size(),
          .modules_written = state_->modules_written};
}

std::span<const std::string> VariantAssembler::lowered() const {
  return state_->code_cache->lowered();
}

uint64_t VariantAssembler::bytes_used() const {
  State& state = *state_;
  const resolve::Program& program = state.linked.program;
  // Layouts are not asked for their size; what they hold per declaration and member is.
  const uint64_t interface = sizeof(Interface) + sizeof(layout::Placement) * program.decl_count() +
                             sizeof(uint32_t) * program.member_count();
  return state.answers.bytes_used() + state.units.bytes_used() +
         state.units.MemoryOf(program).bytes_used() + state.code_cache->bytes_used() +
         state.assembler.bytes_used() + (state.wgsl.has_value() ? state.wgsl->bytes_used() : 0) +
         state.metadata.bytes_used() + state.states.bytes_used() +
         interface * state.interfaces.size() + state.results.bytes_used();
}

}  // namespace kiln::driver
