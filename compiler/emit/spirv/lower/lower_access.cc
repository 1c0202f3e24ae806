// SPDX-License-Identifier: MIT
// The cache knows, per place, the pointer that was made in this block and the value that was last
// loaded or stored; a store forgets what may overlap. Types of blocks differ from those of values,
// as they are laid out: a value changes its form between memory and computation, by one instruction
// from SPIR-V 1.4 on, else part by part.
#include "compiler/emit/spirv/lower/lower_access.h"

#include <vector>

#include <spirv/unified1/GLSL.std.450.h>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/lower/lower_expr.h"
#include "compiler/emit/spirv/lower/lower_image.h"
#include "compiler/emit/spirv/lower_decl.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::spirv {
namespace {

using spv::Op;
using spv::StorageClass;

Ref Reform(RegionLowering& region, Ref value, ir::TypeId type, TypeForm from, TypeForm to);

// A global that has a direction is a field of a container, and its symbol has the direction in it,
// since a state field is two variables. Everything else is a declaration as a whole, of which
// lowering the declaration noted where it lives.
PlaceRoot RootOf(RegionLowering& region, const ir::GlobalRefInst& inst) {
  CodeObjectStore& store = region.table().store();
  if (inst.direction != ir::Direction::kNone) {
    const bool input = inst.direction == ir::Direction::kIn;
    const StorageClass storage = input ? StorageClass::Input : StorageClass::Output;
    return {.id = Ref::Of(store.Variable(inst.decl, inst.member, inst.direction, storage)),
            .storage = storage,
            .writable = !input};
  }
  const CodeObjectTable::DeclClass& decl = region.table().ClassOf(inst.decl);
  return {.id = Ref::Of(store.Variable(inst.decl, {}, inst.direction, decl.storage)),
          .storage = decl.storage,
          .form = decl.form,
          .writable = decl.writable,
          .whole = decl.whole};
}

PlaceRoot RootOf(RegionLowering& region, ir::InstId id) {
  const ir::Inst& inst = region.InstOf(id);
  if (inst.kind == ir::InstKind::kGlobalRef) {
    return RootOf(region, inst.As<ir::GlobalRefInst>());
  }
  if (inst.kind == ir::InstKind::kStageRef) {
    const ir::StageVariable variable = inst.As<ir::StageRefInst>().variable;
    const StorageClass storage = StorageOf(variable);
    return {.id = Ref::Of(StageVariableOf(variable, region.table())),
            .storage = storage,
            .writable = storage == StorageClass::Output};
  }
  if (inst.kind == ir::InstKind::kConstPlace) {
    return {.id = Ref::Of(region.globals().ConstantVariable(inst.As<ir::ConstPlaceInst>().value)),
            .storage = StorageClass::Private,
            .writable = false};
  }
  if (inst.kind == ir::InstKind::kTemp) {
    return {.id = region.ValueOf(id)};
  }
  if (inst.kind == ir::InstKind::kIo) {
    const ir::InterfaceRow& row = region.source().io[inst.As<ir::IoInst>().row];
    const StorageClass storage = StorageOf(row);
    return {.id = Ref::Of(IoVariableOf(row, region.table())),
            .storage = storage,
            .writable = storage == StorageClass::Output};
  }
  // What is left is a local: a variable of the function, or a parameter that is a handle. A handle
  // is never written, and it may turn out non-uniform for some caller, so its symbol is remembered.
  const auto local = inst.As<ir::LocalRefInst>().local;
  PlaceRoot root{.id = region.LowerName(local)};
  if (region.IsHandle(inst.type)) {
    root.storage = StorageClass::UniformConstant;
    root.writable = false;
    root.parameter = region.table().store().Local(local);
  }
  return root;
}

// Steps into structs whose members the block of that type has in their place. In an array of
// buffers they come behind the step that picks a buffer.
void MergeSteps(RegionLowering& region, Place& place, ir::TypeId type) {
  while (region.pool()[type].kind == ir::TypeKind::kArray) {
    type = ir::TypeId{region.pool()[type].element};
    if (++place.picks == place.steps.size()) {
      return;
    }
  }
  // Positions add up: the members of the nested struct begin where its own member stood, which is
  // the last, so position + index is the position in the block.
  do {
    const auto step =
        region.InstOf(ir::InstId{place.steps[place.picks + place.merged]}).As<ir::ConstInst>();
    const uint32_t index = region.pool()[step.value].a;
    place.member += index;
    ++place.merged;
    type = region.pool().Members(type)[index].type;
  } while (region.pool()[type].kind == ir::TypeKind::kStruct &&
           EndsInRuntimeArray(region.pool(), type) &&
           place.picks + place.merged < place.steps.size());
}

// The pointer to a place, made once in a block and remembered in its entry. Without steps it is the
// variable itself.
Ref PointerTo(RegionLowering& region, const Place& place, PlaceCache::Entry& entry) {
  if (place.steps.empty()) {
    return place.root.id;
  }
  if (entry.pointer.valid()) {
    return entry.pointer;
  }
  const SymbolId type = region.globals().Pointer(
      place.root.storage, region.globals().Type(place.type, place.root.form));
  // Every index of the chain is decorated and not only the one that picks the resource: a
  // decoration that says too much costs nothing, one that is missing is undefined behaviour
  // (spec/rpl 11.3).
  region.writer().needs |= place.dynamic;
  if (place.non_uniform) {
    for (Ref& step : region.scratch().steps) {
      step = Indexing(region, step, place.indexing);
    }
  }
  const Ref pointer = region.writer().NewId();
  {
    Instruction chain =
        region.Code(place.in_bounds ? Op::OpInBoundsAccessChain : Op::OpAccessChain);
    chain.Use(type).Use(pointer).Use(place.root.id);
    for (const Ref step : region.scratch().steps) {
      chain.Use(step);
    }
  }
  if (place.non_uniform) {
    MarkNonUniform(region, pointer, place.indexing);
  }
  entry.pointer = pointer;
  return pointer;
}

// The form of part `index` of what has `form`.
TypeForm PartForm(const ir::Pool& pool, ir::TypeId type, uint32_t index, TypeForm form) {
  if (form == TypeForm::kPlain) {
    return form;
  }
  const bool member = pool[type].kind == ir::TypeKind::kStruct;
  const ir::TypeId part = *ir::PartType(pool, type, index);
  const bool array = pool[part].kind == ir::TypeKind::kArray;
  const ir::MatrixOrder order = member ? pool.Members(type)[index].order : OrderOf(form);
  return array ? WithOrder(ItemForm(form), order) : ItemForm(form);
}

// Below SPIR-V 1.4 there is no instruction that copies a value between two forms of its type, so it
// is taken apart and built anew. The cost is one extraction for each part at the bottom; the
// recursion is as deep as the type.
Ref ReformParts(RegionLowering& region, Ref value, ir::TypeId type, TypeForm from, TypeForm to) {
  const ir::Type t = region.pool()[type];
  const bool composite = t.kind == ir::TypeKind::kStruct || t.kind == ir::TypeKind::kArray ||
                         t.kind == ir::TypeKind::kMatrix;
  KILN_CHECK(composite, "a value of one form");
  const uint32_t count = ir::PartCount(region.pool(), type);
  std::vector<Ref> parts;
  for (uint32_t i = 0; i < count; ++i) {
    const ir::TypeId part = *ir::PartType(region.pool(), type, i);
    const TypeForm part_from = PartForm(region.pool(), type, i, from);
    parts.push_back(Reform(region,
                           Extract(region, region.globals().Type(part, part_from), value, i), part,
                           part_from, PartForm(region.pool(), type, i, to)));
  }
  const Ref result = region.writer().NewId();
  Instruction made = region.Code(Op::OpCompositeConstruct);
  made.Use(region.globals().Type(type, to)).Use(result);
  for (const Ref part : parts) {
    made.Use(part);
  }
  return result;
}

// A boolean in memory is a number: 0 or another.
Ref ReformBooleans(RegionLowering& region, Ref value, const ir::Type& type, TypeForm to) {
  Globals& globals = region.globals();
  const SymbolId words = globals.Type(region.pool().Vector(ir::Scalar::kU32, type.rows));
  const auto all = [&](uint32_t number) {
    const SymbolId item = globals.U32(number);
    const std::vector<SymbolId> items(type.rows, item);
    return Ref::Of(type.rows == 1 ? item : globals.Composite(words, items));
  };
  if (to == TypeForm::kPlain) {
    return region.Compute(Op::OpINotEqual,
                          globals.Type(region.pool().Vector(ir::Scalar::kBool, type.rows)), value,
                          all(0));
  }
  const Ref one = all(1);
  const Ref zero = all(0);
  const Ref made = region.writer().NewId();
  region.Code(Op::OpSelect).Use(words).Use(made).Use(value).Use(one).Use(zero);
  return made;
}

Ref Reform(RegionLowering& region, Ref value, ir::TypeId type, TypeForm from, TypeForm to) {
  const SymbolId target = region.globals().Type(type, to);
  // Types without offsets and strides are one type in all forms: nothing to do.
  if (region.globals().Type(type, from) == target) {
    return value;
  }
  const bool booleans = region.globals().HoldsBooleans(type);
  if (booleans && region.pool()[type].kind == ir::TypeKind::kVector) {
    return ReformBooleans(region, value, region.pool()[type], to);
  }
  if (!booleans && region.table().target().spirv_version >= target::SpirvVersion(1, 4)) {
    return region.Compute(Op::OpCopyLogical, target, value);
  }
  return ReformParts(region, value, type, from, to);
}

}  // namespace

namespace {

// What picking a resource by a variable needs: where all invocations pick the same, and where they
// differ.
struct IndexingNeeds {
  target::Need dynamic = target::Need::kSampledImageArrayDynamicIndexing;
  target::Need non_uniform = target::Need::kSampledImageArrayNonUniformIndexing;
};
IndexingNeeds NeedsOfIndexing(RegionLowering& region, const Place& place, ir::TypeId type) {
  using enum target::Need;
  if (place.root.storage == StorageClass::Uniform) {
    return {kUniformBufferArrayDynamicIndexing, kUniformBufferArrayNonUniformIndexing};
  }
  if (place.root.storage == StorageClass::StorageBuffer) {
    return {kStorageBufferArrayDynamicIndexing, kStorageBufferArrayNonUniformIndexing};
  }
  const ir::Type& image = region.pool()[type];
  if (image.kind != ir::TypeKind::kImage) {
    return {};
  }
  const ir::ImageTraits traits = ir::UnpackImage(image.extent);
  if (traits.dim == ir::ImageDim::kBuffer) {
    return traits.storage ? IndexingNeeds{kStorageTexelBufferArrayDynamicIndexing,
                                          kStorageTexelBufferArrayNonUniformIndexing}
                          : IndexingNeeds{kUniformTexelBufferArrayDynamicIndexing,
                                          kUniformTexelBufferArrayNonUniformIndexing};
  }
  return traits.storage ? IndexingNeeds{kStorageImageArrayDynamicIndexing,
                                        kStorageImageArrayNonUniformIndexing}
                        : IndexingNeeds{};
}

// Does a variable pick the resource? Steps behind the pick go into a buffer and need nothing.
bool PicksByVariable(RegionLowering& region, const Place& place) {
  const StorageClass storage = place.root.storage;
  if (storage != StorageClass::Uniform && storage != StorageClass::StorageBuffer &&
      storage != StorageClass::UniformConstant) {
    return false;
  }
  ir::TypeId type = place.root_type;
  for (const uint32_t step : place.steps) {
    if (region.pool()[type].kind != ir::TypeKind::kArray) {
      return false;
    }
    if (region.InstOf(ir::InstId{step}).kind != ir::InstKind::kConst) {
      return true;
    }
    type = ir::TypeId{region.pool()[type].element};
  }
  return false;
}

// The number of items that a variable step may pick from, less one; of a runtime array it is asked
// for, as the member of its block.
Ref LastItem(RegionLowering& region, const Place& place, ir::TypeId type) {
  // The bound of a sized array is a constant of its type.
  if (region.pool()[type].kind != ir::TypeKind::kRuntimeArray) {
    return Ref::Of(region.globals().U32(ir::PartCount(region.pool(), type) - 1));
  }
  const SymbolId u32 = region.Type(region.pool().Vector(ir::Scalar::kU32, 1));
  const Ref length = region.writer().NewId();
  const Ref block = BlockOf(region, place);
  region.Code(Op::OpArrayLength).Use(u32).Use(length).Use(block).Word(place.member);
  return region.Compute(Op::OpISub, u32, length, Ref::Of(region.globals().U32(1)));
}

// The steps of a place whose variable ones are clamped to the last item.
void PushBounded(RegionLowering& region, const Place& place, std::vector<Ref>& steps) {
  ir::TypeId type = place.root_type;
  std::vector<Ref> values;
  // Constant steps are in range by verification and stay as they are. Variable ones are clamped as
  // unsigned numbers, so a negative one becomes the last item.
  for (const uint32_t step : place.steps) {
    const ir::Inst& inst = region.InstOf(ir::InstId{step});
    Ref value = region.ValueOf(ir::InstId{step});
    uint32_t index = 0;
    if (inst.kind == ir::InstKind::kConst) {
      index = region.pool()[inst.As<ir::ConstInst>().value].a;
    } else {
      const Ref last = LastItem(region, place, type);
      const SymbolId u32 = region.Type(region.pool().Vector(ir::Scalar::kU32, 1));
      const SymbolId set = region.globals().Glsl();
      const Ref clamped = region.writer().NewId();
      region.Code(Op::OpExtInst)
          .Use(u32)
          .Use(clamped)
          .Use(set)
          .Word(uint32_t{GLSLstd450UMin})
          .Use(value)
          .Use(last);
      value = clamped;
    }
    values.push_back(value);
    type = *ir::PartType(region.pool(), type, index);
  }
  // What was asked on the way has used the list.
  steps.clear();
  // Steps that the block merges are one step in the chain, as in EntryOf.
  const size_t merged = place.merged > 1 ? place.merged : 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (merged == 0 || i < place.picks || i >= place.picks + merged) {
      steps.push_back(values[i]);
    } else if (i == place.picks) {
      steps.push_back(Ref::Of(region.globals().U32(place.member)));
    }
  }
}

}  // namespace

namespace {

// A buffer itself, whose type is a block.
bool IsWhole(RegionLowering& region, const Place& place) {
  return IsBlock(place.root.whole) && region.pool()[place.type].kind == ir::TypeKind::kStruct;
}

// The form of what a place holds: arrays of matrices have the order of the member that holds them.
TypeForm FormAt(RegionLowering& region, const Place& place) {
  const ir::Pool& pool = region.pool();
  const TypeForm form = place.root.form;
  if (pool[place.type].kind != ir::TypeKind::kArray) {
    return form;
  }
  ir::MatrixOrder order = ir::MatrixOrder::kColumn;
  ir::TypeId type = place.root_type;
  for (const uint32_t step : place.steps) {
    uint32_t index = 0;
    if (pool[type].kind == ir::TypeKind::kStruct) {
      index = pool[region.InstOf(ir::InstId{step}).As<ir::ConstInst>().value].a;
      order = pool.Members(type)[index].order;
    }
    type = *ir::PartType(pool, type, index);
  }
  return WithOrder(form, order);
}

}  // namespace

// Collects what is known of a place without writing anything: most places are asked for several
// times in a block, and their pointers are in the cache.
Place PlaceOf(RegionLowering& region, ir::InstId id) {
  const ir::Inst& inst = region.InstOf(id);
  if (inst.kind != ir::InstKind::kAccess) {
    Place whole{.root = RootOf(region, id), .type = inst.type};
    if (IsWhole(region, whole)) {
      whole.root.form = whole.root.whole;
    }
    return whole;
  }
  const auto access = inst.As<ir::AccessInst>();
  Place place{.root = RootOf(region, access.root),
              .type = inst.type,
              .steps = region.source().List(access.steps)};
  // A chain is in bounds only if nobody can go out of it. That is known of constants, which
  // verification has checked.
  for (const uint32_t step : place.steps) {
    place.in_bounds &= region.InstOf(ir::InstId{step}).kind == ir::InstKind::kConst;
  }
  place.non_uniform = (inst.flags & ir::BitOf(ir::InstFlag::kNonUniform)) != 0;
  place.root_type = region.InstOf(access.root).type;
  const IndexingNeeds needs = NeedsOfIndexing(region, place, inst.type);
  if (place.non_uniform) {
    place.indexing = target::BitOf(needs.non_uniform);
  } else if (PicksByVariable(region, place)) {
    place.dynamic = target::BitOf(needs.dynamic);
  }
  place.bounded = (inst.flags & ir::BitOf(ir::InstFlag::kBounded)) != 0;
  // Only blocks are laid out with members of a nested struct in its place; in plain forms nothing
  // is merged.
  if (place.root.form != TypeForm::kPlain) {
    place.root.form = FormAt(region, place);
    MergeSteps(region, place, place.root_type);
    if (place.picks == place.steps.size() && IsWhole(region, place)) {
      place.root.form = place.root.whole;
    }
  }
  return place;
}

// The cache knows a place by its root and the ids of its steps. So two instructions that access one
// place in a block share one pointer, and the value that is known.
PlaceCache::Entry& EntryOf(RegionLowering& region, const Place& place) {
  std::vector<Ref>& steps = region.scratch().steps;
  steps.clear();
  if (place.bounded) {
    PushBounded(region, place, steps);
  } else if (place.merged > 1) {
    for (const uint32_t step : place.steps.first(place.picks)) {
      steps.push_back(region.ValueOf(ir::InstId{step}));
    }
    steps.push_back(Ref::Of(region.globals().U32(place.member)));
    for (const uint32_t step : place.steps.subspan(place.picks + place.merged)) {
      steps.push_back(region.ValueOf(ir::InstId{step}));
    }
  } else {
    for (const uint32_t step : place.steps) {
      Push(steps, region.ValueOf(ir::InstId{step}));
    }
  }
  return region.cache().At(place.root.id, region.scratch().steps, place.root.storage,
                           place.root.writable);
}

Ref PointerTo(RegionLowering& region, const Place& place) {
  if (place.steps.empty()) {
    return place.root.id;
  }
  return PointerTo(region, place, EntryOf(region, place));
}

// Requires: place.root.whole is the form of the buffers if there are several.
Ref BlockOf(RegionLowering& region, const Place& place) {
  if (place.picks == 0) {
    return place.root.id;
  }
  Place block = place;
  block.steps = place.steps.first(place.picks);
  block.type = place.root_type;
  for (uint32_t i = 0; i < place.picks; ++i) {
    block.type = ir::TypeId{region.pool()[block.type].element};
  }
  block.root.form = place.root.whole;
  block.merged = 0;
  return PointerTo(region, block);
}

// The variable of a temp goes to the part that assembling puts in the first block, since SPIR-V has
// all variables of a function there.
Ref LowerTemp(RegionLowering& region, ir::TypeId type) {
  const Ref id = region.writer().NewId();
  region.writer()
      .Op(Part::kVariables, Op::OpVariable)
      .Use(region.globals().Pointer(StorageClass::Function, region.Type(type)))
      .Use(id)
      .Word(StorageClass::Function);
  return id;
}

// A load that repeats another one in its block is free: what is known of the place is handed out
// again (spec/rpl 11.4).
Ref LowerLoad(RegionLowering& region, const ir::LoadInst& inst) {
  const Place place = PlaceOf(region, inst.place);
  PlaceCache::Entry& entry = EntryOf(region, place);
  if (entry.value.valid()) {
    return entry.value;
  }
  const Ref pointer = PointerTo(region, place, entry);
  const Ref stored =
      region.Compute(Op::OpLoad, region.globals().Type(place.type, place.root.form), pointer);
  entry.value = Reform(region, stored, place.type, place.root.form, TypeForm::kPlain);
  return entry.value;
}

void LowerStore(RegionLowering& region, const ir::StoreInst& inst) {
  const Place place = PlaceOf(region, inst.place);
  const Ref value = region.ValueOf(inst.value);
  const Ref pointer = PointerTo(region, place);
  const Ref stored = Reform(region, value, place.type, TypeForm::kPlain, place.root.form);
  region.Code(Op::OpStore).Use(pointer).Use(stored);
  // Anything that overlaps is forgotten first, by root alone: steps may be variables, and whether
  // two of them meet is not asked. Then the value that was just stored is known.
  region.cache().Written(place.root.id);
  EntryOf(region, place).value = value;
}

}  // namespace kiln::spirv
