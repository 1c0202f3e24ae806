// SPDX-License-Identifier: MIT
#include "compiler/resolve/reachability.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/operands.h"
#include "compiler/resolve/checks/assigned.h"
#include "compiler/resolve/names/kind_text.h"
#include "compiler/resolve/queries/option_cache.h"
#include "compiler/resolve/versions/place_parameters.h"

namespace kiln::resolve {
namespace {
constexpr uint32_t kMaxRecursions = 100;  // said of one variant: a chain each, more are not read
constexpr uint32_t kMostVersions = 4096;  // of functions by their places: calls multiply them
constexpr size_t kFewCalls = 16;          // that are looked through rather than looked up

// Keeps the memory.
void ClearVersion(FunctionVersion& version) {
  version.calls.clear();
  version.failed = false;
  version.failed_calls.clear();
  version.touches_stage = false;
  version.writes_position = false;
  version.unassigned.clear();
  version.ambiguous.clear();
}
}  // namespace

// A row for each function and version: one that no stage distinguishes, and one for each stage.
Reachability::Reachability(const Program& program, CachePolicy serves)
    : program_(program),
      remembers_(serves == CachePolicy::kManyVariants),
      rows_(size_t{program.decl_count()} * (kStages + 1), kNoRow),
      region_roots_(program.region_count() * size_t{kStages + 1}),
      bound_(program.decl_count()) {}

// The memory stays, because the next variant is mostly of the same size.
void Reachability::Forget() {
  KILN_CHECK(!remembers_);
  std::ranges::fill(rows_, kNoRow);
  version_rows_.Clear();
  function_count_ = 0;
  version_count_ = 0;
  version_index_.Clear();
}

void Reachability::Begin(std::span<const ir::DeclId> entries, VariantEvaluator& answers,
                         UnitSource& units, std::vector<Diagnostic>& diagnostics) {
  entries_ = entries;
  answers_ = &answers;
  units_ = &units;
  diagnostics_ = &diagnostics;
  // Nothing is cleared: rows of another variant are known by its number.
  ++variant_;
  incomplete_ = false;
  recursions_ = 0;
  too_deep_ = false;
  path_.clear();
  for (std::vector<const FunctionVersion*>& reached : reached_) {
    reached.clear();
  }
}

// Depth first without recursion, because calls nest as deep as the author likes.
void Reachability::Walk(ir::EntryRef& entry, const EntryInterface* interface, const Bitset* reads) {
  ++walk_;
  stage_ = entry.stage;
  versions_walked_ = 0;
  interface_ = interface;
  interface_reads_ = reads;
  answers_->SetStage(stage_);
  Descend(Close(entry.function), entry);
  // The path is the stack of the walk. A function leaves it when all of its calls were followed.
  while (!path_.empty()) {
    CheckStop();
    Step& step = path_.back();
    if (step.next_call < step.function->version->calls.size()) {
      // A function whose calls are not all followed stays at the end of the path.
      Follow(step.function->version->calls[step.next_call++], entry);
      continue;
    }
    const Function& left = *step.function;
    Leave(*step.function, entry.stage);
    path_.pop_back();
    if (!path_.empty()) {
      Deepen(left);
    }
  }
}

// Functions are listed when they are entered, so the order is that of their first call, in every
// run.
void Reachability::Descend(Function& function, ir::EntryRef& entry) {
  function.walked_by = walk_;
  // The depth is found anew in each walk, from the callees up.
  function.depth = 0;
  versions_walked_ += IsVersion(function.version->ref.function) ? 1 : 0;
  function.on_path = true;
  entry.functions.push_back(&function.version->ref);
  reached_[static_cast<size_t>(entry.stage)].push_back(function.version);
  // What is fixed rests on no option.
  if (!function.fixed) {
    entry.live_options |= function.reads;
  }
  path_.push_back({.function = &function});
}

// Entry points are not callable, whatever stage they are of.
void Reachability::Follow(const FunctionVersion::Call& call, ir::EntryRef& entry) {
  if (std::ranges::find(entries_, call.callee) != entries_.end()) {
    const ir::DeclId caller = Declared(path_.back().function->version->ref.function);
    diagnostics_->push_back(Make(Code::kRpl5008, call.where)
                                .With("name", program_.Text(program_.NameOf(call.callee)))
                                .With("caller", program_.Text(program_.NameOf(caller)))
                                .Label(LabelKind::kDeclaredHere, program_.NameLocation(call.callee),
                                       {{"name", program_.Text(program_.NameOf(call.callee))}}));
    return;
  }
  // A function that touches variables of a stage belongs to this stage, even if it was reached from
  // another one before.
  const ir::Stage* bound = BoundStage(call.callee);
  if (bound != nullptr && *bound != entry.stage) {
    ReportBound(call, entry.stage);
    return;
  }
  if (IsVersion(call.callee) && versions_walked_ == kMostVersions) {
    ReportVersions(call);
    return;
  }
  Function& callee = Close(call.callee);
  // On the path and called again: the cycle is what lies between the two.
  if (callee.on_path) {
    ReportRecursion(call.callee);
    return;
  }
  if (callee.walked_by != walk_) {
    Descend(callee, entry);
  } else {
    Deepen(callee);
  }
}

// The caller at the end of the path has `callee` behind it: calls are in each other as deep as the
// deepest of its callees says, and one more. Each function is walked once, so this is a step for
// each call that is written. Of a program with a cycle only the cycle is said.
void Reachability::Deepen(const Function& callee) {
  const Step& step = path_.back();
  const uint32_t depth = callee.depth + 1;
  step.function->depth = std::max(step.function->depth, depth);
  // Told once, where the limit is passed; deeper callers would only repeat it.
  if (depth == program_.limits().call_depth + 1 && recursions_ == 0 &&
      !std::exchange(too_deep_, true)) {
    const FunctionVersion& caller = *step.function->version;
    const std::string name(program_.Text(program_.NameOf(Declared(caller.ref.function))));
    diagnostics_->push_back(Make(Code::kLim1001, caller.calls[step.next_call - 1].where)
                                .With("what", "function '" + name + "'")
                                .With("parts", "calls in each other")
                                .With("limit", program_.limits().call_depth));
  }
}

// Here all callees are known, so a function that calls a bound one is bound as well.
void Reachability::Leave(Function& function, ir::Stage stage) {
  function.on_path = false;
  const FunctionVersion& version = *function.version;
  const bool bound = version.touches_stage ||
                     std::ranges::any_of(version.calls, [&](const FunctionVersion::Call& call) {
                       return BoundStage(call.callee) != nullptr;
                     });
  // An entry point is of its stage anyway, and nobody may call it.
  if (bound && !IsEntry(version.ref.function)) {
    bound_[Declared(version.ref.function).value] = {.variant = variant_, .stage = stage};
  }
}

const ir::Stage* Reachability::BoundStage(ir::DeclId id) const {
  const Bound& bound = bound_[Declared(id).value];
  return bound.variant == variant_ ? &bound.stage : nullptr;
}

// --- specialising --------------------------------------------------------------------------------

// Row 0 is for functions that are the same in every stage.
uint32_t Reachability::VersionOf(ir::DeclId id, ir::Stage stage) const {
  return program_.StageSensitive(id) ? 1 + static_cast<uint32_t>(stage) : 0;
}

uint32_t& Reachability::RowOf(ir::DeclId id, ir::Stage stage) {
  if (IsVersion(id)) {
    const uint64_t key = uint64_t{id.value} << 32 | static_cast<uint32_t>(stage);
    return *version_rows_.Insert(key, kNoRow).first;
  }
  return rows_[id.value * (kStages + 1) + VersionOf(id, stage)];
}

DecisionTree::Root& Reachability::RegionRoot(ir::DeclId function, ir::RegionId region) {
  if (IsVersion(function)) {
    return version_region_roots_[{function.value, static_cast<uint32_t>(stage_), region.value}];
  }
  return region_roots_[VersionOf(function, stage_) * program_.region_count() + region.value];
}

// An entry version takes and gives nothing; another one is without what it has decided. Equal
// signatures have one address, in every variant.
const ir::SpecialisedDecl* Reachability::SignatureOf(ir::DeclId version,
                                                     const ir::SpecialisedDecl& declared) {
  ir::SpecialisedDecl made = IsEntry(version)
                                 ? ir::SpecialisedDecl{.decl = version,
                                                       .kind = ir::DeclKind::kFunction,
                                                       .name = declared.name,
                                                       .type = answers_->pool().void_type(),
                                                       .origin = declared.origin}
                                 : SignatureOfVersion(declared, version);
  std::deque<ir::SpecialisedDecl>& known = signatures_[version.value];
  for (const ir::SpecialisedDecl& one : known) {
    if (AreSame(one, made)) {
      return &one;
    }
  }
  return &known.emplace_back(std::move(made));
}

// Done once for each variant and version. What rests on no option is kept for all variants and not
// even looked up.
Reachability::Function& Reachability::Close(ir::DeclId id) {
  uint32_t& row = RowOf(id, stage_);
  if (row == kNoRow) {
    row = function_count_++;
    if (row == functions_.size()) {
      functions_.emplace_back();
    }
    // The row may be one of an earlier variant, whose memory is used again.
    functions_[row] = {};
  }
  Function& function = functions_[row];
  // Known already in this variant, from another entry point or another call.
  if (function.fixed || function.variant == variant_) {
    return function;
  }
  const auto& part = FindOrCompute(function_parts_, function.root, remembers_, *answers_,
                                   *diagnostics_, [&] { return SpecialiseAnew(id); });
  function.version = part.result;
  function.reads = part.reads;
  // A result that read no option is right for every variant.
  function.fixed = part.kept && part.reads.empty();
  function.variant = variant_;
  return function;
}

const FunctionVersion* Reachability::SpecialiseAnew(ir::DeclId id) {
  regions_.clear();
  failed_ = false;
  failed_calls_.clear();
  const bool is_entry = IsEntry(id);
  const ir::SpecialisedDecl* signature = answers_->Decl(Declared(id));
  answers_->SetVersion(IsVersion(id) ? id : ir::DeclId{}, is_entry ? interface_ : nullptr,
                       is_entry ? interface_reads_ : nullptr);
  if (signature == nullptr) {
    // The signature failed, which has been reported.
    incomplete_ = true;
  } else {
    SpecialiseRegions(id);
    signature = IsVersion(id) ? SignatureOf(id, *signature) : signature;
  }
  // An incomplete result must be computed again, because its messages have to be said again.
  if (incomplete_) {
    answers_->NoteEffect();
  }
  return Version(id, signature);
}

bool Reachability::IsLive(ir::RegionId region) {
  const uint32_t m = program_.ModuleOf(region);
  const ir::ModuleView& view = program_.module(m);
  const uint32_t row = region.value - program_.bases(m).region;
  const ir::CexprId condition = view.regions[row].condition;
  if (condition == ir::kTrue) {
    return true;
  }
  const ir::SpanId run =
      view.region_spans.empty() ? ir::SpanId{} : view.region_spans[row].condition;
  const std::optional<bool> holds =
      answers_->CheckCondition(program_.Wide(m, condition), program_.At(m, run), {}, *diagnostics_);
  if (!holds.has_value()) {
    incomplete_ = true;
    answers_->NoteEffect();
  }
  return holds.value_or(false);
}

// Null: it is not live.
const Diagnosed<ir::SpecialisedRegion>* Reachability::SpecialiseRegion(ir::RegionId region) {
  if (!IsLive(region)) {
    return nullptr;
  }
  const Diagnosed<ir::SpecialisedRegion>& unit = units_->Region(region, *answers_);
  diagnostics_->insert(diagnostics_->end(), unit.diagnostics.begin(), unit.diagnostics.end());
  return &unit;
}

// Live regions in the order of their insertion points, depth first.
void Reachability::SpecialiseRegions(ir::DeclId function) {
  const ir::DeclId declared = Declared(function);
  const uint32_t m = program_.ModuleOf(declared);
  pending_.assign(
      1, {.region = program_.Wide(m, ir::RegionId{program_.Get(declared).body}), .parent = 0});
  while (!pending_.empty()) {
    CheckStop();
    const auto [id, parent, below_failed] = pending_.back();
    pending_.pop_back();
    const Diagnosed<ir::SpecialisedRegion>* unit =
        FindOrCompute(region_parts_, RegionRoot(function, id), remembers_, *answers_, *diagnostics_,
                      [&, region = id] { return SpecialiseRegion(region); })
            .result;
    if (unit == nullptr) {
      continue;
    }
    // A region below a failed one cannot be part of the function, but is looked into as well.
    if (below_failed || !unit->value) {
      // Messages of the region have been told with it.
      incomplete_ = true;
      failed_ = true;
      LookInto(id);
      continue;
    }
    const auto number = static_cast<uint32_t>(regions_.size());
    regions_.push_back({.region = id, .specialised = &*unit->value, .parent = parent});
    const std::vector<ir::RegionId>& insertion_points = unit->value->insertion_points;
    // Backwards, so the first insertion point is taken off next.
    for (size_t i = insertion_points.size(); i > 0; --i) {
      pending_.push_back({.region = insertion_points[i - 1], .parent = number});
    }
  }
}

// What a region with errors leads to is looked at all the same, so that one mistake hides no
// other: what it calls, and conditional scopes in it. Read off its generic IR, as far as it is
// live.
void Reachability::LookInto(ir::RegionId failed) {
  const uint32_t m = program_.ModuleOf(failed);
  const ir::ModuleView& view = program_.module(m);
  std::vector<ir::BlockId> blocks{program_.Get(failed).block};
  while (!blocks.empty()) {
    const std::span<const uint32_t> insts = view.InstsOf(blocks.back());
    blocks.pop_back();
    for (const uint32_t row : insts) {
      const ir::Inst& inst = view.insts[row];
      if (inst.kind == ir::InstKind::kNameCall) {
        const NameId name = program_.Name(m, inst.As<ir::NameCallInst>().name);
        const NameResolution callee = answers_->Function(name);
        if (callee.kind == NameResolution::Kind::kDecl) {
          const ir::SpanId span =
              view.inst_spans.empty() ? ir::SpanId{} : view.inst_spans[row].main;
          failed_calls_.push_back({.callee = callee.decl(), .where = program_.At(m, span)});
        }
      } else if (inst.kind == ir::InstKind::kWhenRegion) {
        const ir::RegionId nested = inst.As<ir::WhenRegionInst>().region;
        pending_.push_back({.region = program_.Wide(m, nested), .parent = 0, .below_failed = true});
      } else if (inst.kind != ir::InstKind::kWhen ||
                 answers_->Holds(program_.Wide(m, inst.As<ir::WhenInst>().condition))) {
        // Blocks of a condition that does not hold do not exist in this variant.
        ir::ForEachOwnedBlock(
            inst, [&](ir::ListId list) { return view.List(list); },
            [&](uint32_t block) { blocks.emplace_back(block); });
      }
    }
  }
}

// Variants with equal regions share the version, and with it everything that is computed from its
// address. Addresses are hashed, but nothing is ordered by them.
const FunctionVersion* Reachability::Version(ir::DeclId id, const ir::SpecialisedDecl* signature) {
  const bool sensitive = IsEntry(id) || program_.StageSensitive(Declared(id));
  const ir::FunctionRef ref{.function = id,
                            .signature = signature,
                            .stage = sensitive ? stage_ : ir::Stage::kVertex,
                            .stage_sensitive = sensitive};
  // Only numbers and addresses that stay the same for the life of this object.
  uint64_t hash = Mix64(uint64_t{RowOf(id, stage_)} << 32 | regions_.size());
  hash = Mix64(hash ^ reinterpret_cast<uintptr_t>(signature));
  for (const ir::RegionRef& region : regions_) {
    hash = Mix64(hash ^ reinterpret_cast<uintptr_t>(region.specialised));
  }
  for (const FunctionVersion::Call& call : failed_calls_) {
    hash = Mix64(hash ^ call.callee.value);
  }
  const auto same = [](const ir::RegionRef& a, const ir::RegionRef& b) {
    return a.specialised == b.specialised && a.parent == b.parent;
  };
  const uint32_t row = version_index_.FindOrAdd(
      hash,
      [&](uint32_t i) {
        const ir::FunctionRef& known = versions_[i].ref;
        return known.function == id && known.signature == signature &&
               (!known.stage_sensitive || known.stage == stage_) &&
               versions_[i].failed == failed_ &&
               std::ranges::equal(versions_[i].failed_calls, failed_calls_, {},
                                  &FunctionVersion::Call::callee, &FunctionVersion::Call::callee) &&
               std::ranges::equal(known.regions, regions_, same);
      },
      [&] {
        const uint32_t number = version_count_++;
        FunctionVersion& added =
            number < versions_.size() ? versions_[number] : versions_.emplace_back();
        // Versions of an earlier variant are used again with their memory (Forget).
        ClearVersion(added);
        std::vector<ir::RegionRef> regions = std::move(added.ref.regions);  // its memory
        regions.assign(regions_.begin(), regions_.end());
        added.ref = ref;
        added.ref.number = number;
        added.ref.regions = std::move(regions);
        added.failed = failed_;
        added.failed_calls = failed_calls_;
        Summarise(added);
        return number;
      });
  return &versions_[row];
}

namespace {

// Whether a call is the first of its callee; looks the callees up once they are many.
class FirstCalls {
 public:
  explicit FirstCalls(const std::vector<FunctionVersion::Call>& calls) : calls_(calls) {}

  bool IsFirst(ir::DeclId callee) {
    // A scan of a few rows is faster than a hash.
    if (calls_.size() < kFewCalls) {
      return std::ranges::find(calls_, callee, &FunctionVersion::Call::callee) == calls_.end();
    }
    for (size_t i = many_.size(); i < calls_.size(); ++i) {
      many_.Insert(calls_[i].callee, true);
    }
    return !many_.Contains(callee);
  }

 private:
  const std::vector<FunctionVersion::Call>& calls_;
  FlatMap<ir::DeclId, bool> many_;
};

bool Has(const ir::Mention& mention, ir::MemberUse touch) {
  return (mention.touches & static_cast<uint8_t>(touch)) != 0;
}

}  // namespace

// What later checks ask about a function without looking at its code: which members it reads and
// writes, whom it calls, what it leaves open.
void Reachability::Summarise(FunctionVersion& version) const {
  // Sized once; later variants clear the bits only.
  for (Bitset* fields : {&version.state_reads, &version.writes}) {
    if (fields->size() != program_.member_count()) {
      ChargeMemory(program_.member_count() / 8);
      *fields = Bitset(program_.member_count());
    }
    fields->Clear();
  }
  // What a failed region assigns is not known; typed modules have versions, and no such rule.
  if (!version.failed && !IsVersion(version.ref.function)) {
    CheckAssigned(program_, version.ref, version.unassigned);
  }
  FirstCalls calls(version.calls);
  for (const FunctionVersion::Call& call : version.failed_calls) {
    if (calls.IsFirst(call.callee)) {
      version.calls.push_back(call);
    }
  }
  for (const ir::RegionRef& region : version.ref.regions) {
    const ir::SpecialisedRegion& specialised = *region.specialised;
    version.ambiguous.insert(version.ambiguous.end(), specialised.ambiguous.begin(),
                             specialised.ambiguous.end());
    version.touches_stage = version.touches_stage || specialised.bound;
    version.writes_position =
        version.writes_position ||
        std::ranges::find(specialised.stage_variables, ir::StageVariable::kPosition) !=
            specialised.stage_variables.end();
    for (const ir::Mention& mention : specialised.mentions) {
      const ir::Decl& decl = program_.Get(Declared(mention.decl));
      if (mention.member.valid()) {
        if (Has(mention, ir::MemberUse::kWrite)) {
          version.writes.Set(mention.member.value);
        }
        if (Has(mention, ir::MemberUse::kRead) && decl.container() == ir::ContainerKind::kState) {
          version.state_reads.Set(mention.member.value);
        }
      }
      if (decl.kind == ir::DeclKind::kFunction && calls.IsFirst(mention.decl)) {
        version.calls.push_back(
            {.callee = mention.decl, .where = program_.At(specialised.module, mention.span)});
      }
    }
  }
}

// --- reports -------------------------------------------------------------------------------------

// Merged with what is said of other calls of the same place.
void Reachability::ReportVersions(const FunctionVersion::Call& call) {
  const std::string name(program_.Text(program_.NameOf(Declared(call.callee))));
  diagnostics_->push_back(Make(Code::kLim1001, call.where)
                              .With("what", "function '" + name + "'")
                              .With("parts", "versions")
                              .With("limit", kMostVersions));
}

// Said once, at the first function of the cycle in program order, wherever it was entered.
void Reachability::ReportRecursion(ir::DeclId callee) {
  if (++recursions_ > kMaxRecursions) {
    return;
  }
  const auto start = std::ranges::find_if(
      path_, [&](const Step& step) { return step.function->version->ref.function == callee; });
  std::vector<ir::DeclId> cycle;
  for (auto step = start; step != path_.end(); ++step) {
    cycle.push_back(step->function->version->ref.function);
  }
  // The cycle is turned so that the declaration with the least number comes first. So the message
  // does not depend on where the walk has entered it.
  std::rotate(cycle.begin(), std::ranges::min_element(cycle, {}, &ir::DeclId::value), cycle.end());
  const auto text = [&](ir::DeclId id) {
    return "'" + std::string(program_.Text(program_.NameOf(Declared(id)))) + "'";
  };
  const ir::DeclId first = Declared(cycle.front());
  diagnostics_->push_back(Make(Code::kRpl5020, program_.NameLocation(first))
                              .With("name", program_.Text(program_.NameOf(first)))
                              .With("chain", ChainText(cycle, text)));
}

// One label per step from the function to what binds it.
void Reachability::ReportBound(const FunctionVersion::Call& call, ir::Stage stage) {
  const ir::Stage bound = *BoundStage(call.callee);
  const auto name = [&](ir::DeclId id) { return program_.Text(program_.NameOf(Declared(id))); };
  Diagnostic found = Make(Code::kRpl5012, call.where)
                         .With("name", name(call.callee))
                         .With("stage", ir::NameOf(bound))
                         .With("other", ir::NameOf(stage));
  const auto of_bound_stage = [&](ir::DeclId id) -> const FunctionVersion& {
    return *functions_[RowOf(id, bound)].version;
  };
  const FunctionVersion* function = &of_bound_stage(call.callee);
  // A cycle of calls, which is an error of its own, must not hold the report up.
  for (size_t steps = 0; !function->touches_stage && steps < functions_.size(); ++steps) {
    const auto next = std::ranges::find_if(
        function->calls, [&](const auto& inner) { return BoundStage(inner.callee) != nullptr; });
    found.labels.push_back(
        {.kind = LabelKind::kCalledHere,
         .where = next->where,
         .arguments = {{"caller", name(function->ref.function)}, {"callee", name(next->callee)}}});
    function = &of_bound_stage(next->callee);
  }
  for (const ir::RegionRef& region : function->ref.regions) {
    for (const ir::Mention& mention : region.specialised->mentions) {
      if (program_.Get(Declared(mention.decl)).kind == ir::DeclKind::kContainer) {
        diagnostics_->push_back(std::move(found).Label(
            LabelKind::kAccessedHere, program_.At(region.specialised->module, mention.span),
            {{"name", name(mention.decl)}}));
        return;
      }
    }
  }
  diagnostics_->push_back(std::move(found));
}

}  // namespace kiln::resolve
