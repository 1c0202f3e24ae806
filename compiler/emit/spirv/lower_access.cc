// SPDX-License-Identifier: MIT
// Places: pointers are made when something is loaded, stored or passed, never before.
#include "compiler/base/check.h"
#include "compiler/emit/spirv/lower_decl.h"
#include "compiler/emit/spirv/lower_segment.h"

namespace kiln::spirv {

using spv::Op;
using spv::StorageClass;

// --- places --------------------------------------------------------------------------------------

SegmentLowering::Root SegmentLowering::RootOf(const ir::GlobalRefInst& inst) {
  CodeObjectStore& store = table_.store();
  if (inst.direction != ir::Direction::kNone) {
    const bool input = inst.direction == ir::Direction::kIn;
    const StorageClass storage = input ? StorageClass::Input : StorageClass::Output;
    return {.id = Ref::Of(store.Variable(inst.decl, inst.member, inst.direction, storage)),
            .storage = storage,
            .writable = !input};
  }
  const CodeObjectTable::DeclClass& decl = table_.ClassOf(inst.decl);
  return {.id = Ref::Of(store.Variable(inst.decl, {}, inst.direction, decl.storage)),
          .storage = decl.storage,
          .form = decl.form,
          .writable = decl.writable};
}

SegmentLowering::Root SegmentLowering::RootOf(ir::InstId id) {
  const ir::Inst& inst = InstOf(id);
  if (inst.kind == ir::InstKind::kGlobalRef) {
    return RootOf(inst.As<ir::GlobalRefInst>());
  }
  if (inst.kind == ir::InstKind::kStageRef) {
    const ir::StageVariable variable = inst.As<ir::StageRefInst>().variable;
    const StorageClass storage = StorageOf(variable);
    return {.id = Ref::Of(StageVariableOf(variable, table_)),
            .storage = storage,
            .writable = storage == StorageClass::Output};
  }
  if (inst.kind == ir::InstKind::kConstPlace) {
    return {.id = Ref::Of(globals_.ConstantVariable(inst.As<ir::ConstPlaceInst>().value)),
            .storage = StorageClass::Private,
            .writable = false};
  }
  if (inst.kind == ir::InstKind::kTemp) {
    return {.id = ValueOf(id)};
  }
  const auto local = inst.As<ir::LocalRefInst>().local;
  Root root{.id = LowerName(local)};
  if (IsHandle(inst.type)) {
    root.storage = StorageClass::UniformConstant;
    root.writable = false;
    root.parameter = table_.store().Local(local);
  }
  return root;
}

SegmentLowering::Place SegmentLowering::PlaceOf(ir::InstId id) {
  const ir::Inst& inst = InstOf(id);
  if (inst.kind != ir::InstKind::kAccess) {
    return {.root = RootOf(id), .type = inst.type};
  }
  const auto access = inst.As<ir::AccessInst>();
  Place place{.root = RootOf(access.root), .type = inst.type, .steps = segment_.List(access.steps)};
  for (const uint32_t step : place.steps) {
    place.in_bounds &= InstOf(ir::InstId{step}).kind == ir::InstKind::kConst;
  }
  place.non_uniform = !place.in_bounds && IsHandle(inst.type);
  if (place.root.form != TypeForm::kPlain) {
    MergeSteps(place, InstOf(access.root).type);
  }
  return place;
}

// Steps into structs whose members the block of that type has in their place.
void SegmentLowering::MergeSteps(Place& place, ir::TypeId type) {
  do {
    const auto step = InstOf(ir::InstId{place.steps[place.merged]}).As<ir::ConstInst>();
    const uint32_t index = pool_[step.value].a;
    place.member += index;
    ++place.merged;
    type = pool_.Members(type)[index].type;
  } while (pool_[type].kind == ir::TypeKind::kStruct && EndsInRuntimeArray(pool_, type) &&
           place.merged < place.steps.size());
}

PlaceCache::Entry& SegmentLowering::EntryOf(const Place& place) {
  steps_.clear();
  if (place.merged > 1) {
    steps_.push_back(Ref::Of(globals_.U32(place.member)));
  }
  for (const uint32_t step : place.steps.subspan(steps_.empty() ? 0 : place.merged)) {
    Push(steps_, ValueOf(ir::InstId{step}));
  }
  return cache_.At(place.root.id, steps_, place.root.storage, place.root.writable);
}

Ref SegmentLowering::PointerTo(const Place& place) {
  if (place.steps.empty()) {
    return place.root.id;
  }
  return PointerTo(place, EntryOf(place));
}

Ref SegmentLowering::PointerTo(const Place& place, PlaceCache::Entry& entry) {
  if (place.steps.empty()) {
    return place.root.id;
  }
  if (entry.pointer.valid()) {
    return entry.pointer;
  }
  const SymbolId type =
      globals_.Pointer(place.root.storage, globals_.Type(place.type, place.root.form));
  if (place.non_uniform) {
    for (Ref& step : steps_) {
      step = Indexing(step);
    }
  }
  const Ref pointer = writer_.NewId();
  {
    Instruction chain = Code(place.in_bounds ? Op::OpInBoundsAccessChain : Op::OpAccessChain);
    chain.Use(type).Use(pointer).Use(place.root.id);
    for (const Ref step : steps_) {
      chain.Use(step);
    }
  }
  if (place.non_uniform) {
    MarkNonUniform(pointer);
  }
  entry.pointer = pointer;
  return pointer;
}

Ref SegmentLowering::LowerTemp(ir::TypeId type) {
  const Ref id = writer_.NewId();
  writer_.Op(Part::kVariables, Op::OpVariable)
      .Use(globals_.Pointer(StorageClass::Function, Type(type)))
      .Use(id)
      .Word(StorageClass::Function);
  return id;
}

// --- loads and stores ----------------------------------------------------------------------------

Ref SegmentLowering::LowerLoad(const ir::LoadInst& inst) {
  const Place place = PlaceOf(inst.place);
  PlaceCache::Entry& entry = EntryOf(place);
  if (entry.value.valid()) {
    return entry.value;
  }
  const Ref pointer = PointerTo(place, entry);
  const Ref stored = Compute(Op::OpLoad, globals_.Type(place.type, place.root.form), pointer);
  entry.value = Reform(stored, place.type, place.root.form, TypeForm::kPlain);
  return entry.value;
}

void SegmentLowering::LowerStore(const ir::StoreInst& inst) {
  const Place place = PlaceOf(inst.place);
  const Ref value = ValueOf(inst.value);
  const Ref pointer = PointerTo(place);
  const Ref stored = Reform(value, place.type, TypeForm::kPlain, place.root.form);
  Code(Op::OpStore).Use(pointer).Use(stored);
  cache_.Written(place.root.id);
  EntryOf(place).value = value;
}

// --- values of laid out types --------------------------------------------------------------------

Ref SegmentLowering::Reform(Ref value, ir::TypeId type, TypeForm from, TypeForm to) {
  const SymbolId target = globals_.Type(type, to);
  if (globals_.Type(type, from) == target) {
    return value;
  }
  if (table_.target().spirv_version >= target::SpirvVersion(1, 4)) {
    return Compute(Op::OpCopyLogical, target, value);
  }
  return ReformParts(value, type, from, to);
}

Ref SegmentLowering::ReformParts(Ref value, ir::TypeId type, TypeForm from, TypeForm to) {
  const ir::Type t = pool_[type];
  const bool is_struct = t.kind == ir::TypeKind::kStruct;
  KILN_CHECK(is_struct || t.kind == ir::TypeKind::kArray);
  const size_t count = is_struct ? pool_.Members(type).size() : t.extent;
  std::vector<Ref> parts;
  for (uint32_t i = 0; i < count; ++i) {
    const ir::TypeId part = is_struct ? pool_.Members(type)[i].type : ir::TypeId{t.element};
    parts.push_back(Reform(Extract(globals_.Type(part, from), value, i), part, from, to));
  }
  const Ref result = writer_.NewId();
  Instruction made = Code(Op::OpCompositeConstruct);
  made.Use(globals_.Type(type, to)).Use(result);
  for (const Ref part : parts) {
    made.Use(part);
  }
  return result;
}

// --- calls ---------------------------------------------------------------------------------------

Ref SegmentLowering::LowerArgument(ir::InstId id, SymbolId callee, uint32_t index) {
  if (ir::FactsOf(InstOf(id).kind).result != ir::ResultSchema::kPlace) {
    return ValueOf(id);
  }
  const Place place = PlaceOf(id);
  if (place.non_uniform || place.root.parameter.valid()) {
    writer_.flows.push_back({.callee = callee, .argument = index, .source = place.root.parameter});
  }
  return PointerTo(place);
}

Ref SegmentLowering::LowerCall(const ir::CallInst& inst) {
  const SymbolId callee = table_.store().Function(inst.function);
  const std::span<const uint32_t> arguments = segment_.List(inst.arguments);
  std::vector<Ref>& ids = scratch_.arguments;
  ids.clear();
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    ids.push_back(LowerArgument(ir::InstId{arguments[i]}, callee, i));
  }
  const Ref result = writer_.NewId();
  {
    Instruction call = Code(Op::OpFunctionCall);
    call.Use(Type(inst.type)).Use(result).Use(callee);
    for (const Ref id : ids) {
      call.Use(id);
    }
  }
  cache_.Called();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ir::InstId id{arguments[i]};
    const bool is_place = ir::FactsOf(InstOf(id).kind).result == ir::ResultSchema::kPlace;
    if (is_place && !IsHandle(InstOf(id).type)) {
      cache_.Written(ids[i]);
    }
  }
  return result;
}

}  // namespace kiln::spirv
