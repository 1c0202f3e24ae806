// SPDX-License-Identifier: MIT
// The order of the steps is the rule: what is written claims its numbers before anything is given,
// so the result does not depend on where in a program a written number stands; and the default
// space is chosen when every written space is known. The counts of an item follow from its type
// alone, but for shifted classes, which depend on the default space and are measured a second time.
#include "compiler/layout/engine/engine.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/layout/engine/engine_records.h"
#include "compiler/layout/engine/engine_state.h"
#include "compiler/layout/engine/locations.h"
#include "compiler/layout/engine/reserved.h"

namespace kiln::layout {
namespace {

// The SpecId of a specialization constant has to fit 16 bits (spec/layout 8.3).
constexpr uint64_t kMaxSpecId = 65535;
// A space that no resource can name, for numberings that have none.
constexpr uint32_t kIdSpace = 0xffffffffu;

// The spaces behind the part's own move down by one.
void GiveUpSpace(ItemState& measured, LeafPart& part) {
  // Group 0 is the home space, where a number that was written belongs.
  const uint64_t given_up = std::exchange(part.group, 0);
  for (Leaf& other : measured.demands.leaves) {
    for (LeafPart& moved : other.used_parts()) {
      moved.group -= moved.group > given_up ? 1 : 0;
    }
  }
  --measured.demands.spaces;
}

// Steps 1 to 5: everything gets its numbers.
class NumberAssigner {
 public:
  explicit NumberAssigner(EngineState& state)
      : state_(state),
        program_(state.program),
        types_(state.types),
        findings_(state.findings),
        items_(state.items),
        measured_(state.measured),
        out_(state.out) {}

  void Assign();

 private:
  void Measure(uint32_t order);
  void ReportSplit(uint32_t order);
  void MeasureAgain();
  SplitContext ContextOf(const Item& item) const;

  void Reserve(uint32_t order);
  void ReserveSpaces(uint32_t order, const WrittenNumber& written);
  void ReserveRun(uint32_t order, const WrittenNumber& written);
  bool ReserveUnbounded(uint32_t order, const WrittenNumber& written);
  void TakeCounterApart(uint32_t order, const WrittenNumber& written);

  void ReserveOutputs();
  void ReserveOutput(const Varying& varying);

  void ChooseDefaultSpace();
  void PlaceGlobals();
  void Allocate(uint32_t order);
  void AllocateSpaces(uint32_t order);
  void AllocateRun(uint32_t order, Kind kind);
  void NumberSpecializations();
  void Overlap(uint32_t order, Owner other, const Place& place);

  EngineState& state_;
  const Program& program_;
  Types& types_;
  Findings& findings_;
  std::vector<Item>& items_;
  std::vector<ItemState>& measured_;
  ProgramLayout& out_;
  Allocator allocator_;
  uint32_t default_space_ = 0;
  bool need_buffer_ = false;
};

// The steps of spec/layout 7.3, each over all items before the next one begins. An item that was
// written with a number never moves because of one that was not, and adding a parameter at the end
// of a program moves nothing before it.
void NumberAssigner::Assign() {
  const auto count = static_cast<uint32_t>(items_.size());
  for (uint32_t i = 0; i < count; ++i) {
    Measure(i);
  }
  for (uint32_t i = 0; i < count; ++i) {
    Reserve(i);
  }
  ReserveOutputs();
  ChooseDefaultSpace();
  PlaceGlobals();
  for (uint32_t i = 0; i < count; ++i) {
    Allocate(i);
  }
  NumberSpecializations();
}

// --- 1: measure ---

// What decides how the type of an item falls apart: the target, the settings, and which of its
// classes are numbered apart.
SplitContext NumberAssigner::ContextOf(const Item& item) const {
  const Settings& settings = program_.settings;
  const auto written_as = [&](Kind kind) {
    return std::ranges::find(item.written, kind, &WrittenNumber::kind);
  };
  const bool has_slot = written_as(Kind::kSlot) != item.written.end();
  SplitContext context{.platform = program_.platform,
                       .policy = program_.policy,
                       .role = item.parameter->role,
                       .webgpu_arrays = settings.webgpu_arrays.value_or(
                           state_.rpl() ? WebgpuArrays::kSplit : WebgpuArrays::kError),
                       .webgpu_push = settings.webgpu_push,
                       .reserved_samplers = program_.platform == Platform::kWebgpu && has_slot};
  // A written slot makes all numbers of the item plain slots (spec/layout 7.5).
  if (!state_.shifted() || has_slot) {
    return context;
  }
  const auto home = written_as(Kind::kSpace);
  // In the order of the classes.
  for (const Kind kind : {Kind::kB, Kind::kT, Kind::kU, Kind::kS}) {
    // A class without a number of its own lies in the space that was written for the item, or in
    // the default one.
    auto written = written_as(kind);
    written = written == item.written.end() ? home : written;
    const uint32_t space = written == item.written.end() ? default_space_ : written->space;
    context.classes[static_cast<size_t>(kind)] = ShiftOf(settings, kind, space).has_value();
  }
  return context;
}

void NumberAssigner::Measure(uint32_t order) {
  const Item& item = items_[order];
  const Parameter& parameter = *item.parameter;
  ItemState& measured = measured_[order];
  measured.home = parameter.home;
  measured.demands = Split(types_, parameter.type, parameter.name, ContextOf(item));
  // Where the target has no slots a specialization constant has no number.
  if (parameter.role == Role::kSpecialization && state_.slots()) {
    measured.count(Kind::kSpec) = 1;
  }
  if (measured.demands.fault != SplitFault::kNone) {
    ReportSplit(order);
  }
  // Nobody wrote where the parameter is bound, and the program says that everything must be.
  if (parameter.must_be_bound && item.written.empty() && parameter.role == Role::kResource) {
    state_.Add(order, state_.About(order, Code::kLay2009));
  }
}

// Which classes are numbered apart depends on the default space, which was taken to be 0.
void NumberAssigner::MeasureAgain() {
  for (uint32_t i = 0; i < items_.size(); ++i) {
    const SplitContext context = ContextOf(items_[i]);
    const bool has_slot = measured_[i].base(Kind::kSlot).has_value();
    // Only items without a space of their own depend on the default one, and only resources have
    // classes.
    if (measured_[i].demands.fault == SplitFault::kNone && !measured_[i].home && !has_slot &&
        items_[i].parameter->role == Role::kResource) {
      measured_[i].demands =
          Split(types_, items_[i].parameter->type, items_[i].parameter->name, context);
    }
  }
}

void NumberAssigner::ReportSplit(uint32_t order) {
  ItemState& measured = measured_[order];
  const Location& where = items_[order].parameter->where;
  const std::string path = std::exchange(measured.demands.fault_path, {});
  const std::string_view target = PlatformName(program_.platform);
  const auto lacks = [&](std::string_view what) {
    state_.Add(
        order,
        Make(Code::kLay3003, where).With("name", path).With("what", what).With("target", target));
  };
  const auto has_no = [&](std::string_view what) {
    state_.Add(
        order,
        Make(Code::kLay3002, where).With("target", target).With("what", what).With("name", path));
  };
  switch (measured.demands.fault) {
    case SplitFault::kNone:
      break;
    case SplitFault::kTooMany:
      state_.Add(order,
                 Make(state_.rpl() ? Code::kRpl4003 : Code::kLay1001, where).With("name", path));
      break;
    case SplitFault::kUnspecialised:
      state_.Add(order, Make(Code::kLay1002, where).With("name", path));
      break;
    case SplitFault::kArray:
      has_no("arrays of resources");
      break;
    case SplitFault::kUnbounded:
      lacks("an unbounded array");
      break;
    case SplitFault::kUnboundedSpaces:
      lacks("an unbounded number of spaces");
      break;
    case SplitFault::kSubpass:
      has_no("subpass inputs");
      break;
  }
  // The item keeps its fault, so that later steps pass over it, and demands nothing.
  measured.demands = {.fault = measured.demands.fault};  // takes nothing
}

// --- 2: reserve what is written ---

// What the author wrote for one item. An item that takes whole spaces is bound by space alone,
// unless the number is that of an unbounded array in it.
void NumberAssigner::Reserve(uint32_t order) {
  if (measured_[order].demands.fault != SplitFault::kNone) {
    return;
  }
  // Each number that was written counts as explicit, even if it turns out wrong.
  for (const WrittenNumber& written : items_[order].written) {
    measured_[order].is_explicit = true;
    if (measured_[order].demands.whole() && !ReserveUnbounded(order, written)) {
      ReserveSpaces(order, written);
    } else if (written.kind == Kind::kSpace) {
      measured_[order].home = written.space;
      allocator_.UseSpace(written.space);
    } else if (!measured_[order].unbounded[static_cast<size_t>(written.kind)]) {
      ReserveRun(order, written);
    }
  }
}

void NumberAssigner::ReserveSpaces(uint32_t order, const WrittenNumber& written) {
  // A whole space has no numbers inside of it that could be meant.
  if (written.kind != Kind::kSpace && written.index != 0) {
    state_.Add(order, state_.About(order, Code::kLay2005));
    return;
  }
  ItemState& measured = measured_[order];
  const Run run{.first = written.space, .count = measured.demands.spaces};
  if (written.space + measured.demands.spaces > kEndOfNumbers) {
    state_.Add(order, state_.About(order, Code::kLay1001));
    return;
  }
  measured.first_space = written.space;
  if (const auto conflict = allocator_.ClaimSpaces(run, order)) {
    Overlap(order, conflict->other, {.kind = Kind::kSpace, .index = conflict->first});
  }
}

// An unbounded leaf of the written class, outside parameter blocks, gives up its own space:
// unbounded arrays get a space each, because nothing can follow them in a numbering, but an author
// who says where one begins has taken care of that.
bool NumberAssigner::ReserveUnbounded(uint32_t order, const WrittenNumber& written) {
  if (written.kind == Kind::kSpace || state_.slots()) {
    return false;
  }
  ItemState& measured = measured_[order];
  // The first leaf that fits takes the number.
  for (Leaf& leaf : measured.demands.leaves) {
    for (LeafPart& part : leaf.used_parts()) {
      if (part.kind != written.kind || part.count < kUnbounded || leaf.in_block) {
        continue;
      }
      GiveUpSpace(measured, part);
      measured.unbounded[static_cast<size_t>(written.kind)] = {.space = written.space,
                                                               .index = written.index};
      const Run run{.first = written.index, .count = kUnbounded};
      if (const auto conflict = allocator_.Claim(written.space, written.kind, run, order)) {
        Overlap(order, conflict->other,
                {.kind = conflict->whole_space ? Kind::kSpace : written.kind,
                 .space = conflict->whole_space ? 0 : written.space,
                 .index = conflict->first});
      }
      // Only one leaf is meant by one number.
      return true;
    }
  }
  return false;
}

// The counter of an append or consume buffer has a slot of its own.
void NumberAssigner::TakeCounterApart(uint32_t order, const WrittenNumber& written) {
  ItemState& measured = measured_[order];
  const std::optional<uint64_t> counter = items_[order].counter;
  // Only a single buffer with a counter can have them apart.
  if (!counter || measured.demands.leaves.size() != 1 || measured.count(Kind::kSlot) != 2) {
    return;
  }
  Leaf& leaf = measured.demands.leaves.front();
  // The run has one slot less, since the counter is claimed apart.
  measured.count(Kind::kSlot) = 1;
  leaf.parts[0].count = 1;
  leaf.counter = *counter;
  const auto conflict =
      allocator_.Claim(written.space, Kind::kSlot, {.first = *counter, .count = 1}, order);
  if (conflict) {
    Overlap(order, conflict->other,
            {.kind = Kind::kSlot, .space = written.space, .index = conflict->first});
  } else if (*counter == written.index) {
    // The author gave both the same number.
    Overlap(order, order, {.kind = Kind::kSlot, .space = written.space, .index = *counter});
  }
}

void NumberAssigner::ReserveRun(uint32_t order, const WrittenNumber& written) {
  ItemState& measured = measured_[order];
  TakeCounterApart(order, written);
  const uint64_t count = measured.count(written.kind);
  // The type has nothing of this class, and no unbounded array that could be meant.
  if (count == 0 && !ReserveUnbounded(order, written)) {
    state_.Add(order, state_.About(order, Code::kLay2004).With("class", KindText(written.kind)));
    return;
  }
  if (count == 0) {
    return;
  }
  // Bindings from 512 on are the engine's own on this target (spec/layout 10.1).
  if (program_.platform == Platform::kWebgpu && written.kind == Kind::kSlot &&
      written.index + count > kFirstReserved) {
    const Place place{.kind = Kind::kSlot, .space = written.space, .index = written.index};
    state_.Add(order, state_.About(order, Code::kLay2008)
                          .With("place", PlaceInMessage(program_.platform, place)));
    return;
  }
  if (written.index + count > kEndOfNumbers) {
    state_.Add(order, state_.About(order, Code::kLay1001));
    return;
  }
  // The item gets its number in any case: an overlap is an error, but records are written all the
  // same.
  measured.base(written.kind) = {.space = written.space, .index = written.index};
  const auto aliasing = items_[order].parameter->may_alias ? Allocator::Aliasing::kAllowed
                                                           : Allocator::Aliasing::kForbidden;
  const auto conflict = allocator_.Claim(written.space, written.kind,
                                         {.first = written.index, .count = count}, order, aliasing);
  if (conflict) {
    Overlap(order, conflict->other,
            {.kind = conflict->whole_space ? Kind::kSpace : written.kind,
             .space = conflict->whole_space ? 0 : written.space,
             .index = conflict->first});
  }
}

// On d3d11 pixel outputs and writable resources share one numbering.
void NumberAssigner::ReserveOutputs() {
  if (program_.platform != Platform::kD3d11) {
    return;
  }
  for (const Unit& unit : program_.units) {
    for (const EntryPoint& entry : unit.entry_points) {
      for (const EntryParameter& parameter : entry.parameters) {
        if (parameter.varying) {
          ReserveOutput(*parameter.varying);
        }
      }
    }
  }
}

void NumberAssigner::ReserveOutput(const Varying& varying) {
  for (const Varying& field : varying.fields) {
    ReserveOutput(field);
  }
  const std::optional<uint32_t> target = TargetIndex(varying);
  if (!target) {
    return;
  }
  // All pixel outputs are one owner: two entry points are never bound together.
  const Run run{.first = *target};
  if (const auto conflict = allocator_.Claim(0, Kind::kU, run, kOutputOwner)) {
    findings_.Add(
        Make(Code::kLay2001, varying.where)
            .With("name", varying.name)
            .With("other", state_.NameOf(conflict->other))
            .With("place", PlaceInMessage(program_.platform, {.kind = Kind::kU, .index = *target})),
        static_cast<uint32_t>(items_.size()));
  }
}

void NumberAssigner::Overlap(uint32_t order, Owner other, const Place& place) {
  Diagnostic diagnostic = state_.About(order, Code::kLay2001)
                              .With("other", state_.NameOf(other))
                              .With("place", PlaceInMessage(program_.platform, place));
  if (other < items_.size()) {
    diagnostic.labels.push_back(
        {.kind = LabelKind::kOtherHere, .where = items_[other].parameter->where});
  }
  state_.Add(order, std::move(diagnostic));
}

// --- 3, 4: the default space and the implicit buffer ---

// The default space is the lowest that nobody owns whole. It is chosen late since written spaces
// come first, and only if something needs it. With shifted bindings the space decides which classes
// share a numbering; measuring took it for 0, so another one means that counts change.
void NumberAssigner::ChooseDefaultSpace() {
  bool need = false;
  for (uint32_t i = 0; i < items_.size(); ++i) {
    need_buffer_ = need_buffer_ || state_.NeedsBuffer(i);
    // Something without a home and without a number needs the default space.
    need = need || (!measured_[i].home && std::ranges::any_of(kBoundKinds, [&](Kind kind) {
             return measured_[i].count(kind) != 0 && !measured_[i].base(kind);
           }));
  }
  if (need || need_buffer_) {
    default_space_ = allocator_.LowestUnowned();
    allocator_.UseSpace(default_space_);
    if (state_.shifted() && default_space_ != 0) {
      MeasureAgain();
    }
  }
}

// The buffer of loose globals comes before all parameters, so that adding a parameter does not move
// it.
void NumberAssigner::PlaceGlobals() {
  if (!need_buffer_) {
    return;
  }
  const auto& fixed = program_.settings.globals_binding;
  const Kind kind = state_.BufferKind(fixed ? fixed->space : default_space_);
  Place place{.kind = kind, .space = default_space_};
  const auto report = [&](const Allocator::Conflict& conflict) {
    place.index = conflict.first;
    findings_.Add(Make(Code::kLay2001, {})
                      .With("name", kGlobalsName)
                      .With("other", state_.NameOf(conflict.other))
                      .With("place", PlaceInMessage(program_.platform, place)),
                  0);
  };
  if (fixed) {
    place.space = fixed->space;
    place.index = fixed->index;
    const auto conflict =
        allocator_.Claim(fixed->space, kind, {.first = fixed->index, .count = 1}, kGlobalsOwner);
    if (conflict) {
      report(*conflict);
    }
    if (program_.platform == Platform::kWebgpu && fixed->index >= kFirstReserved) {
      findings_.Add(Make(Code::kLay2008, {})
                        .With("place", PlaceInMessage(program_.platform, place))
                        .With("name", kGlobalsName),
                    0);
    }
  } else if (const auto index = allocator_.FirstFit(default_space_, kind, 1, kGlobalsOwner)) {
    place.index = *index;
  } else if (const auto owner = allocator_.OwnerIn(default_space_, kind)) {
    report({.other = *owner});
  }
  out_.globals = GlobalsBlock{.place = place, .rules = UniformRules(program_)};
}

// --- 5: allocate ---

void NumberAssigner::Allocate(uint32_t order) {
  AllocateSpaces(order);
  // In the order of kinds, each in its own numbering.
  for (const Kind kind : kBoundKinds) {
    if (measured_[order].count(kind) != 0 && !measured_[order].base(kind)) {
      AllocateRun(order, kind);
    }
  }
  if (measured_[order].count(Kind::kAttachment) != 0) {
    AllocateRun(order, Kind::kAttachment);
  }
}

void NumberAssigner::AllocateSpaces(uint32_t order) {
  ItemState& measured = measured_[order];
  // Spaces that were written are claimed already.
  if (measured.demands.spaces == 0 || measured.first_space) {
    return;
  }
  measured.first_space = allocator_.FirstFitSpaces(measured.demands.spaces, order);
  if (!measured.first_space) {
    state_.Add(order, state_.About(order, Code::kLay1001));
  }
}

void NumberAssigner::AllocateRun(uint32_t order, Kind kind) {
  ItemState& measured = measured_[order];
  const uint32_t space =
      kind == Kind::kAttachment ? kIdSpace : measured.home.value_or(default_space_);
  const auto index = allocator_.FirstFit(space, kind, measured.count(kind), order);
  // Nothing is free: either somebody owns the whole space, or an unbounded run reaches to the end
  // of the numbering.
  if (!index) {
    const std::optional<Owner> owner = allocator_.OwnerIn(space, kind);
    const bool whole = allocator_.WholeOwnerOf(space).has_value();
    Overlap(
        order, owner.value_or(order),
        whole ? Place{.kind = Kind::kSpace, .index = space} : Place{.kind = kind, .space = space});
    return;
  }
  if (program_.platform == Platform::kWebgpu && kind == Kind::kSlot &&
      *index + measured.count(kind) > kFirstReserved) {
    const Place place{.kind = kind, .space = space, .index = *index};
    state_.Add(order, state_.About(order, Code::kLay2008)
                          .With("place", PlaceInMessage(program_.platform, place)));
  }
  measured.base(kind) = {.space = space, .index = *index};
}

// Written ids first, then the others in order: as with bindings, a written one never moves.
void NumberAssigner::NumberSpecializations() {
  const auto is_id = [&](uint32_t order) { return measured_[order].count(Kind::kSpec) != 0; };
  for (uint32_t i = 0; i < items_.size(); ++i) {
    const std::optional<uint32_t>& written = items_[i].parameter->spec_id;
    if (!is_id(i) || !written) {
      continue;
    }
    measured_[i].is_explicit = true;
    measured_[i].base(Kind::kSpec) = {.index = *written};
    if (const auto conflict =
            allocator_.Claim(kIdSpace, Kind::kSpec, {.first = *written, .count = 1}, i)) {
      Overlap(i, conflict->other, {.kind = Kind::kSpec, .index = *written});
    }
  }
  for (uint32_t i = 0; i < items_.size(); ++i) {
    if (!is_id(i)) {
      continue;
    }
    if (!measured_[i].base(Kind::kSpec)) {
      // Beyond the limit the number stays and is reported below.
      const auto id = allocator_.FirstFit(kIdSpace, Kind::kSpec, 1, i);
      measured_[i].base(Kind::kSpec) = {.index = id.value_or(kMaxSpecId + 1)};
    }
    const uint64_t id = measured_[i].base(Kind::kSpec)->index;
    if (id > kMaxSpecId) {
      state_.Add(i, state_.About(i, Code::kLay3001)
                        .With("found", id)
                        .With("unit", "as its id")
                        .With("target", PlatformName(program_.platform))
                        .With("limit", kMaxSpecId));
    }
  }
}

}  // namespace

ProgramLayout LayOut(const Program& program, Types& types, ByteLayouts& bytes) {
  EngineState state(program, types, bytes);
  GlobalOrder order = OrderParameters(program, types, state.findings);
  state.gathered = std::move(order.gathered);
  state.items = std::move(order.items);
  state.measured.resize(state.items.size());
  state.out.parameters.reserve(state.items.size());
  NumberAssigner(state).Assign();
  RecordWriter(state).Write();
  // Errors of RPL have codes of their own; only webgpu adds checks to it.
  if (!state.rpl() || program.platform == Platform::kWebgpu) {
    FinishTarget(program, types, state.items, state.findings, state.out);
  }
  PlaceVaryings(program, types, state.findings, state.out);
  state.out.findings = state.findings.Take();
  return std::move(state.out);
}

}  // namespace kiln::layout
