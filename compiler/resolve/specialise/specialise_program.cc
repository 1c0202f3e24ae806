// SPDX-License-Identifier: MIT
// The steps of spec/rpl 8.1, one function each, and what is checked between them.
#include "compiler/resolve/specialise/specialise_program.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"
#include "compiler/resolve/checks/advise.h"
#include "compiler/resolve/checks/stage_rules.h"
#include "compiler/resolve/list_structs.h"
#include "compiler/resolve/names/kind_text.h"
#include "compiler/resolve/names/merge_undeclared.h"
#include "compiler/resolve/names/name_space.h"
#include "compiler/resolve/names/repeated.h"
#include "compiler/resolve/queries/option_cache.h"
#include "compiler/resolve/reachability.h"
#include "compiler/resolve/specialise/specialise_settings.h"
#include "compiler/resolve/specialise/specialiser_cache.h"
#include "compiler/resolve/unreached_bindings.h"
#include "compiler/resolve/versions/entry_points.h"

namespace kiln::resolve {
namespace {

// What every device has for attributes and between stages; more is a lint and no error.
constexpr uint32_t kAttributeLocations = 16;
constexpr uint32_t kStateLocations = 32;

// Makes one variant. What depends on few options is recalled for those (OptionCache), so a
// variant that differs in one option costs what that option decides.
class VariantSpecialiser {
 public:
  VariantSpecialiser(const Program& program, std::span<const EntryPoint> entries,
                     VariantEvaluator& answers, UnitSource& units, ir::SpecialisedProgram& out,
                     std::vector<Diagnostic>& diagnostics)
      : program_(program),
        entries_(entries),
        answers_(answers),
        units_(units),
        memory_(units.MemoryOf(program)),
        diagnostics_(diagnostics),
        out_(out),
        is_typed_(std::ranges::any_of(program.modules(), [](const ir::ModuleView& module) {
          return module.header.typed != 0;
        })) {
    out_.pool = &answers.pool();
    out_.pipeline = program.pipeline();
    const bool grouped = std::ranges::all_of(program.modules(), [](const ir::ModuleView& module) {
      return module.header.Has(ir::ModuleRule::kGroupsOrderTheInterface);
    });
    out_.bindings = grouped ? ir::BindingPolicy::kGroups : ir::BindingPolicy::kFirstFit;
    // The result is used again for the next variant, and its memory stays.
    out_.interface.clear();
    out_.structs.clear();
    out_.option_uses.clear();
    out_.specialization.clear();
    if (out_.live_options.size() != program.option_count()) {
      out_.live_options = Bitset(program.option_count());
    }
    out_.live_options.Clear();
    memory_.interface_reads.Clear();
    memory_.layout_reads.Clear();
    memory_.settings_reads.Clear();
    memory_.code_reads.Clear();
  }

  // The order is that of spec/rpl 8.1: interface before code, so that code is checked against what
  // is really declared, and lists that depend on reached functions last.
  bool Run() {
    answers_.BeginReads();
    std::ranges::for_each(program_.choices(), [&](auto id) { (void)answers_.Option(id); });
    SpecialiseConstants();
    for (size_t i = 0; i < program_.interface().size(); ++i) {
      ListInterface(program_.interface()[i], memory_.interface[i]);
    }
    for (const ir::DeclId id : program_.repeated()) {
      CheckRepeated(program_, id, answers_, diagnostics_);
    }
    ListStructs(answers_, out_, memory_.pending);
    CheckLocations();
    if (is_typed_) {
      FindEntries();  // settings may be of one of them, and of what it writes
    }
    SpecialiseSettings();
    if (!is_typed_) {
      FindEntries();
    }
    WalkEntries();
    for (const ir::DeclId id : answers_.ambiguous()) {
      AddName(id);
    }
    CheckFunctions();
    CheckStages();
    if (is_typed_ && LeaveOutUnreachedBindings(program_, out_)) {
      memory_.interface_reads |= memory_.code_reads;
      memory_.layout_reads |= memory_.code_reads;
    }
    ListVariables();
    ListSpecialization();
    answers_.EndReads(out_.live_options);
    ListOptions();
    std::vector<Diagnostic> found = answers_.TakeDiagnostics();
    diagnostics_.insert(diagnostics_.end(), std::make_move_iterator(found.begin()),
                        std::make_move_iterator(found.end()));
    MergeUndeclared(program_, diagnostics_);
    SortAndMerge(diagnostics_);
    Advise(program_, diagnostics_);
    return !HasErrors(diagnostics_);
  }

 private:
  // Names that only one declaration has clash with nobody.
  void AddName(ir::DeclId id) {
    // Nearly all names of a program have one declaration, so the table of names is seldom made.
    if (!program_.IsAmbiguous(program_.NameOf(id)) || !Has(id, ir::ModuleRule::kNamesHideNothing)) {
      return;
    }
    if (!names_.has_value()) {
      names_.emplace(program_, diagnostics_);
    }
    names_->Add(id);
    answers_.NoteEffect();
  }

  bool Has(ir::DeclId id, ir::ModuleRule rule) const {
    return program_.module(program_.ModuleOf(id)).header.Has(rule);
  }

  void SpecialiseConstants() {
    Recall(memory_.constants, memory_.constants_root, [&] {
      for (const ir::DeclId id : program_.constants()) {
        const ConstantState state = answers_.StateOf(id, &diagnostics_);
        if (state.kind == ConstantState::Kind::kActive) {
          AddName(id);
        }
      }
      return true;
    });
  }

  // Computes once for each combination of the options that were read on the way.
  template <class T, class Compute>
  const typename OptionCache<T>::Leaf& Recall(OptionCache<T>& memo, DecisionTree::Root& root,
                                              Compute compute) {
    return FindOrCompute(memo, root, memory_.remembers, answers_, diagnostics_, compute);
  }

  // --- step 3 ------------------------------------------------------------------------------------
  void ListInterface(ir::DeclId id, DecisionTree::Root& root) {
    const auto& [specialised, reads, kept] =
        Recall(memory_.decls, root, [&] { return SpecialiseInterface(id); });
    const ir::Decl& decl = program_.Get(id);
    if (!reads.empty()) {
      AddInterfaceReads(decl, reads);
    }
    if (specialised == nullptr) {
      return;
    }
    out_.interface.push_back(specialised);
    if (IsColorOutput(decl)) {
      color_outputs_ += static_cast<uint32_t>(specialised->members.size());
    }
  }

  static bool IsState(const ir::Decl& decl) {
    return decl.kind == ir::DeclKind::kContainer && decl.container() == ir::ContainerKind::kState;
  }
  static bool IsColorOutput(const ir::Decl& decl) {
    return decl.kind == ir::DeclKind::kContainer &&
           decl.container() == ir::ContainerKind::kColorOutput;
  }

  // Null: it is not live, or wrong.
  const ir::SpecialisedDecl* SpecialiseInterface(ir::DeclId id) {
    const ir::Decl& decl = program_.Get(id);
    const Position position = {.global_only = !IsState(decl) && !IsColorOutput(decl),
                               .what = ConditionText(decl.kind),
                               .name = program_.Text(program_.NameOf(id))};
    return IsLive(id, decl, position) ? SpecialiseLive(id, decl) : nullptr;
  }

  // What decides the interface also decides its numbers; state and outputs decide code instead, as
  // their locations do not show in the input layout.
  void AddInterfaceReads(const ir::Decl& decl, const Bitset& reads) {
    memory_.interface_reads |= reads;
    if (IsState(decl) || IsColorOutput(decl)) {
      memory_.code_reads |= reads;
    } else {
      memory_.layout_reads |= reads;
    }
    if (IsColorOutput(decl)) {
      memory_.settings_reads |= reads;
    }
  }

  bool IsLive(ir::DeclId id, const ir::Decl& decl, const Position& position) {
    if (decl.condition == ir::kTrue) {
      return true;
    }
    const uint32_t m = program_.ModuleOf(id);
    return answers_
        .CheckCondition(program_.Wide(m, decl.condition),
                        program_.At(m, program_.SpansOf(id).condition), position, diagnostics_)
        .value_or(false);
  }

  // A push constant that is one too many is left out, and what mentions it is told so.
  const ir::SpecialisedDecl* SpecialiseLive(ir::DeclId id, const ir::Decl& decl) {
    AddName(id);
    const std::string_view name = program_.Text(program_.NameOf(id));
    if (decl.kind == ir::DeclKind::kContainer &&
        program_.pipeline() == ir::PipelineType::kCompute) {
      diagnostics_.push_back(Make(Code::kRpl8104, program_.NameLocation(id))
                                 .With("kind", DeclKindText(decl))
                                 .With("name", name));
      return nullptr;
    }
    if (decl.kind == ir::DeclKind::kPushConstant) {
      answers_.NoteEffect();  // on those behind it
      if (push_constant_.valid()) {
        diagnostics_.push_back(
            Make(Code::kRpl4054, program_.NameLocation(id))
                .With("name", name)
                .With("other", program_.Text(program_.NameOf(push_constant_)))
                .Label(LabelKind::kFirstHere, program_.NameLocation(push_constant_)));
        return nullptr;
      }
      push_constant_ = id;
    }
    return answers_.Decl(id);
  }

  // One lint each, where the limit is passed.
  void CheckLocations() {
    uint32_t attributes = 0;
    uint32_t state = 0;
    const ir::SpecialisedDecl* attribute_limit = nullptr;
    const ir::SpecialisedDecl* state_limit = nullptr;
    for (const ir::SpecialisedDecl* specialised : out_.interface) {
      if (specialised->kind != ir::DeclKind::kContainer ||
          specialised->container() == ir::ContainerKind::kColorOutput) {
        continue;
      }
      const bool is_state = specialised->container() == ir::ContainerKind::kState;
      uint32_t& count = is_state ? state : attributes;
      for (const ir::SpecialisedMember& member : specialised->members) {
        const ir::Type& type = answers_.pool()[member.type];
        count += type.kind == ir::TypeKind::kMatrix ? type.columns : 1;
      }
      const ir::SpecialisedDecl*& passed = is_state ? state_limit : attribute_limit;
      if (passed == nullptr && count > (is_state ? kStateLocations : kAttributeLocations)) {
        passed = specialised;
      }
    }
    ReportLocations(attribute_limit, "attributes", attributes, kAttributeLocations);
    ReportLocations(state_limit, "state fields", state, kStateLocations);
  }

  void ReportLocations(const ir::SpecialisedDecl* where, std::string_view kind, uint32_t count,
                       uint32_t limit) {
    if (where != nullptr) {
      diagnostics_.push_back(Make(Code::kRpl4045, program_.NameLocation(where->decl))
                                 .With("kind", kind)
                                 .With("count", count)
                                 .With("limit", limit));
    }
  }

  void SpecialiseSettings() {
    // Settings depend on the number of outputs, so there is one root for each number.
    const auto& [settings, reads, kept] =
        Recall(memory_.closed_settings, memory_.settings_roots[color_outputs_], [&] {
          const auto& specialised = RecallSettings();
          diagnostics_.insert(diagnostics_.end(), specialised.diagnostics.begin(),
                              specialised.diagnostics.end());
          return &specialised;
        });
    memory_.settings_reads |= reads;
    out_.settings = *settings->value;
  }

  const Diagnosed<std::vector<ir::SpecialisedSetting>>& RecallSettings() {
    return resolve::Recall(memory_.settings[color_outputs_], answers_, [&] {
      Diagnosed<std::vector<ir::SpecialisedSetting>> specialised;
      specialised.value = resolve::SpecialiseSettings(program_, entries_, color_outputs_, answers_,
                                                      specialised.diagnostics);
      return specialised;
    });
  }

  // --- step 5 ------------------------------------------------------------------------------------
  void FindEntries() {
    size_t count = 0;
    memory_.functions.clear();
    memory_.entry_roots.resize(entries_.size());
    for (size_t i = 0; i < entries_.size(); ++i) {
      const EntryPoint& entry = entries_[i];
      const auto& [function, reads, kept] = Recall(memory_.entries, memory_.entry_roots[i], [&] {
        return CheckEntry(program_, entries_, entry, diagnostics_)
                   ? FindEntry(entry, answers_, diagnostics_)
                   : ir::DeclId{};
      });
      memory_.code_reads |= reads;
      if (function.valid()) {
        memory_.functions.push_back(function);
        if (count == out_.entries.size()) {
          out_.entries.emplace_back();
        }
        ir::EntryRef& ref = out_.entries[count++];
        ref.stage = entry.stage;
        ref.function = function;
        ref.name = program_.Text(program_.NameOf(function));
        ref.functions.clear();
        ref.io.clear();
        ref.interface = 0;
        ref.live_options = memory_.interface_reads;
        ref.live_options |= reads;
      }
    }
    out_.entries.resize(count);
    if (is_typed_) {
      FindInterfaces();
    }
  }

  // An entry point of a typed module is a version of its function, which others may call.
  void FindInterfaces() {
    std::vector<ChosenEntry> chosen;
    for (const ir::EntryRef& entry : out_.entries) {
      chosen.push_back({.stage = entry.stage, .function = entry.function});
    }
    const auto& [interfaces, reads, kept] = Recall(
        memory_.entry_interfaces, memory_.interfaces_root,
        [&] { return InterfacesOf(chosen, answers_, memory_.known_interfaces, diagnostics_); });
    memory_.code_reads |= reads;
    memory_.layout_reads |= reads;
    interfaces_ = interfaces;
    interfaces_reads_ = &reads;
    if (interfaces.empty()) {
      out_.entries.clear();
      memory_.functions.clear();
    }
    for (size_t i = 0; i < out_.entries.size(); ++i) {
      if (const EntryInterface* interface = interfaces[i]; interface != nullptr) {
        ir::EntryRef& entry = out_.entries[i];
        entry.io = interface->rows;
        entry.interface = interface->number;
        entry.live_options |= reads;
        entry.function = answers_.pool().versions().Of(entry.function, {});
        memory_.functions[i] = entry.function;
        color_outputs_ += ColorOutputsOf(entry.stage, *interface);
      }
    }
  }

  void WalkEntries() {
    Reachability& reach = memory_.reach;
    reach.Begin(memory_.functions, answers_, units_, diagnostics_);
    for (size_t i = 0; i < out_.entries.size(); ++i) {
      answers_.BeginReads();
      reach.Walk(out_.entries[i], interfaces_.empty() ? nullptr : interfaces_[i],
                 interfaces_reads_);
      answers_.EndReads(memory_.code_reads);
    }
    // Requests mostly name the stages in order.
    if (!std::ranges::is_sorted(out_.entries, {}, &ir::EntryRef::stage)) {
      std::ranges::sort(out_.entries, {}, &ir::EntryRef::stage);  // one entry for each stage
    }
    if (!reach.incomplete()) {
      CheckPosition();
      CheckState();
    }
  }

  ir::DeclId Declared(ir::DeclId function) const {
    return answers_.pool().versions().FunctionOf(function);
  }

  const ir::EntryRef* EntryOf(ir::Stage stage) const {
    const auto entry = std::ranges::find(out_.entries, stage, &ir::EntryRef::stage);
    return entry == out_.entries.end() ? nullptr : &*entry;
  }

  template <class Visit>
  static void ForRegions(const ir::EntryRef& entry, Visit visit) {
    for (const ir::FunctionRef* function : entry.functions) {
      for (const ir::RegionRef& region : function->regions) {
        visit(*region.specialised);
      }
    }
  }

  // Variables that reached functions mention, in program order, behind the interface.
  void ListVariables() {
    if (program_.pipeline() != ir::PipelineType::kCompute && !is_typed_) {
      return;
    }
    std::vector<ir::DeclId> found;
    for (const ir::EntryRef& entry : out_.entries) {
      ForRegions(entry, [&](const ir::SpecialisedRegion& region) {
        for (const ir::Mention& mention : region.mentions) {
          const ir::DeclKind kind = program_.Get(Declared(mention.decl)).kind;
          if ((kind == ir::DeclKind::kWorkgroup || kind == ir::DeclKind::kPrivate) &&
              std::ranges::find(found, mention.decl) == found.end()) {
            found.push_back(mention.decl);
          }
        }
      });
    }
    std::ranges::sort(found, {}, &ir::DeclId::value);
    for (const ir::DeclId id : found) {
      if (const ir::SpecialisedDecl* decl = answers_.Decl(id); decl != nullptr) {
        out_.interface.push_back(decl);
        AddName(id);
      }
    }
  }

  // Their values are part of the metadata and of nothing else.
  // Ids are those of the program, the same in all its variants; rows ascend by them.
  void ListSpecialization() {
    for (const ir::OptionId id : memory_.specialised) {
      const ir::Option& option = program_.Get(id);
      out_.specialization.push_back({.name = answers_.PoolText(program_.NameOf(id)),
                                     .id = program_.SpecIdOf(id),
                                     .kind = option.kind,
                                     .default_bits = option.default_value,
                                     .bits = answers_.Option(id).bits});
    }
    std::ranges::sort(out_.specialization, {}, &ir::SpecConstant::id);
  }

  // What a stage must not do, of typed modules: they ask for no stage.
  // RPL binds functions to stages when it specialises them, and needs no second look.
  void CheckStages() {
    if (!is_typed_) {
      return;
    }
    for (const ir::EntryRef& entry : out_.entries) {
      ForRegions(entry, [&](const ir::SpecialisedRegion& region) {
        CheckStageRules(program_, entry.stage, region, diagnostics_);
      });
    }
  }

  // What only all live regions together show. A function of two entry points is looked at twice;
  // equal messages are merged.
  void CheckFunctions() {
    for (const ir::EntryRef& entry : out_.entries) {
      for (const FunctionVersion* function : memory_.reach.Reached(entry.stage)) {
        for (const Diagnostic& found : function->unassigned) {
          diagnostics_.push_back(found);
        }
        for (const ir::LocalId local : function->ambiguous) {
          if (names_.has_value()) {
            names_->CheckLocal(local);
          }
        }
      }
    }
  }

  void CheckPosition() {
    const ir::EntryRef* vertex = EntryOf(ir::Stage::kVertex);
    if (vertex != nullptr &&
        Has(Declared(vertex->function), ir::ModuleRule::kVertexWritesPosition) &&
        std::ranges::none_of(memory_.reach.Reached(ir::Stage::kVertex),
                             &FunctionVersion::writes_position)) {
      diagnostics_.push_back(Make(Code::kRpl5009, program_.NameLocation(Declared(vertex->function)))
                                 .With("name", vertex->name));
    }
  }

  // State that the fragment stage reads and the vertex stage never writes.
  void CheckState() {
    if (EntryOf(ir::Stage::kVertex) == nullptr) {
      return;
    }
    Bitset& settled = memory_.settled;  // written, or warned of
    settled.Clear();
    for (const FunctionVersion* function : memory_.reach.Reached(ir::Stage::kVertex)) {
      settled |= function->writes;
    }
    for (const FunctionVersion* function : memory_.reach.Reached(ir::Stage::kFragment)) {
      if (!settled.Contains(function->state_reads)) {
        ReportState(*function, settled);
      }
    }
  }

  void ReportState(const FunctionVersion& function, Bitset& settled) {
    for (const ir::RegionRef& region : function.ref.regions) {
      for (const ir::Mention& mention : region.specialised->mentions) {
        if (!mention.member.valid() || settled.Test(mention.member.value) ||
            !function.state_reads.Test(mention.member.value) ||
            (mention.touches & static_cast<uint8_t>(ir::MemberUse::kRead)) == 0) {
          continue;
        }
        settled.Set(mention.member.value);
        ReportState(mention, region.specialised->module);
      }
    }
  }

  void ReportState(const ir::Mention& mention, uint32_t module) {
    const ir::Member& member = program_.Get(mention.member);
    const ir::ModuleView& view = program_.module(program_.ModuleOf(mention.member));
    const std::string field = std::string(view.Text(program_.Get(mention.decl).name)) + "." +
                              std::string(view.Text(member.name));
    diagnostics_.push_back(Make(Code::kRpl5010, program_.At(module, mention.span))
                               .With("field", field)
                               .Label(LabelKind::kDeclaredHere,
                                      program_.NameLocation(mention.member), {{"name", field}}));
  }

  // --- option influence (spec/rpl 12.3) ----------------------------------------------------------
  void ListOptions() {
    for (const ir::OptionId id : program_.options_by_name()) {
      if (!out_.live_options.Test(id.value)) {
        continue;
      }
      // Rows of options are remembered, because making one interns texts.
      SpecialiserCache::ListedOption& listed = memory_.options[id.value];
      const uint32_t bits = answers_.EnumIndex(id);
      // Texts of enum values change with the value; the rest of the row stays.
      if (!listed.known || (listed.is_enum && listed.bits != bits)) {
        Describe(id, listed);
        listed.known = true;
      }
      listed.bits = bits;
      listed.use.value = bits;
      // What chose the modules may have decided anything. There are few such options.
      const bool chose = std::ranges::find(program_.choices(), id) != program_.choices().end();
      const auto bit = [&](const Bitset& reads, ir::Influence influence) {
        return chose || reads.Test(id.value) ? static_cast<uint8_t>(influence) : uint8_t{0};
      };
      uint8_t influence = bit(memory_.layout_reads, ir::Influence::kLayout);
      influence |= bit(memory_.settings_reads, ir::Influence::kSettings);
      influence |= bit(memory_.code_reads, ir::Influence::kCode);
      if (listed.specialised) {
        influence = static_cast<uint8_t>(ir::Influence::kSpecialization);
      } else if (influence == 0) {
        influence = static_cast<uint8_t>(ir::Influence::kCheck);
      }
      out_.option_uses.emplace_back(listed.use).influence = influence;
    }
  }

  // All that does not change with the value, unless the option is an enum.
  void Describe(ir::OptionId id, SpecialiserCache::ListedOption& listed) {
    const ir::Option& option = program_.Get(id);
    const Value value = answers_.Option(id);
    const bool is_enum = value.kind == ir::ValueKind::kString;
    listed.is_enum = is_enum;
    listed.specialised = option.specialize != 0;
    listed.use = {.name = answers_.PoolText(program_.NameOf(id)),
                  .scope = option.scope,
                  .kind = option.kind,
                  .text = is_enum ? ir::StringId{value.bits} : ir::StringId{}};
  }

  const Program& program_;
  std::span<const EntryPoint> entries_;
  VariantEvaluator& answers_;
  UnitSource& units_;
  SpecialiserCache& memory_;
  std::vector<Diagnostic>& diagnostics_;
  ir::SpecialisedProgram& out_;
  const bool is_typed_;                            // one of the modules is
  std::vector<const EntryInterface*> interfaces_;  // by entry; empty without typed modules
  const Bitset* interfaces_reads_ = nullptr;
  std::optional<NameSpace> names_;
  ir::DeclId push_constant_;
  uint32_t color_outputs_ = 0;
};

}  // namespace

bool SpecialiseVariant(const Program& program, std::span<const EntryPoint> entries,
                       VariantEvaluator& answers, UnitSource& units, ir::SpecialisedProgram& out,
                       std::vector<Diagnostic>& diagnostics) {
  diagnostics.clear();
  return VariantSpecialiser(program, entries, answers, units, out, diagnostics).Run();
}

Diagnosed<ir::SpecialisedProgram> SpecialiseVariant(const Program& program,
                                                    std::span<const EntryPoint> entries,
                                                    VariantEvaluator& answers, UnitSource& units) {
  Diagnosed<ir::SpecialisedProgram> result;
  result.value.emplace();
  if (!SpecialiseVariant(program, entries, answers, units, *result.value, result.diagnostics)) {
    result.value.reset();
  }
  return result;
}

}  // namespace kiln::resolve
