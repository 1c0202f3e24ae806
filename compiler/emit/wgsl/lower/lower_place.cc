// SPDX-License-Identifier: MIT
// A place is text: a variable, members and items. In memory that some function uses atomically,
// loads and stores are atomic too, leaf by leaf. See spec/wgsl 3.7, 3.8.
#include "compiler/emit/wgsl/lower/lower_place.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/emit/wgsl/lower/lower_typed.h"
#include "compiler/emit/wgsl/memory_struct.h"
#include "compiler/emit/wgsl/names.h"

namespace kiln::wgsl {
namespace {

constexpr std::string_view kComponents[] = {".x", ".y", ".z", ".w"};

// A member with a direction is a field of a stage's input or output, which has a variable of
// its own.
PlaceText GlobalRoot(RegionLowering& region, const ir::GlobalRefInst& inst) {
  region.Mention({.decl = inst.decl, .member = inst.member, .direction = inst.direction});
  if (inst.direction != ir::Direction::kNone) {
    return {.text = region.names().FieldName(inst.member),
            .type = inst.type,
            .constant = inst.direction == ir::Direction::kIn};
  }
  const DeclClass& decl = region.names().ClassOf(inst.decl);
  return {.text = decl.name,
          .type = inst.type,
          .atomic = region.AtomicLeavesOf(inst.decl),
          .constant = decl.constant};
}

// A copy of an input is the input, which nothing writes.
PlaceText TypedLocal(RegionLowering& region, const ir::LocalRefInst& inst) {
  TypedRegion& typed = region.typed_region;
  if (const InputCopy* copy = typed.CopyOf(inst.local)) {
    typed.io_used[copy->row] = true;
    return {.text = typed.io[copy->row], .type = inst.type, .constant = true};
  }
  if (!typed.IsTouched(inst.local)) {
    typed.touched.push_back(inst.local);
  }
  return {.text = region.LocalText(inst.local), .type = inst.type};
}

// What a place begins with.
PlaceText RootOf(RegionLowering& region, ir::InstId id) {
  const ir::Inst& inst = region.InstOf(id);
  switch (inst.kind) {
    case ir::InstKind::kGlobalRef:
      return GlobalRoot(region, inst.As<ir::GlobalRefInst>());
    case ir::InstKind::kStageRef: {
      const ir::StageVariable variable = inst.As<ir::StageRefInst>().variable;
      region.needs().stage_variables |= BitOf(variable);
      // Only outputs are written; the other variables of a stage stay as they are while a shader
      // runs, so text that reads them may wait.
      const bool written =
          variable == ir::StageVariable::kPosition || variable == ir::StageVariable::kFragDepth;
      return {.text = std::string(StageVariableName(variable)),
              .type = inst.type,
              .constant = !written};
    }
    // A table is a module-scope variable. Its type is asked for so that the module declares the
    // structs in it.
    case ir::InstKind::kConstPlace:
      region.Type(inst.type);
      return {.text = Mark(MarkKind::kTable, inst.As<ir::ConstPlaceInst>().value.value),
              .type = inst.type,
              .constant = true};
    case ir::InstKind::kTemp:
      return {.text = region.Take(id).text, .type = inst.type};
    case ir::InstKind::kLocalRef:
      if (region.typed()) {
        return TypedLocal(region, inst.As<ir::LocalRefInst>());
      }
      return {.text = region.LocalText(inst.As<ir::LocalRefInst>().local), .type = inst.type};
    default:
      break;
  }
  KILN_CHECK(false, "{} is no root of a place", ir::FactsOf(inst.kind).mnemonic);
  return {};
}

// Index of a step that is a constant; nothing if a value decides it.
std::optional<uint32_t> ConstantStep(const RegionLowering& region, ir::InstId step) {
  const ir::Inst& inst = region.InstOf(step);
  if (inst.kind != ir::InstKind::kConst) {
    return std::nullopt;
  }
  return region.pool()[inst.As<ir::ConstInst>().value].a;
}

// Blocks are the only variables whose structs may be taken apart.
bool IsBlockRoot(const RegionLowering& region, ir::InstId root) {
  const ir::Inst& inst = region.InstOf(root);
  if (inst.kind != ir::InstKind::kGlobalRef ||
      inst.As<ir::GlobalRefInst>().direction != ir::Direction::kNone) {
    return false;
  }
  const ir::DeclKind kind = region.names().ClassOf(inst.As<ir::GlobalRefInst>().decl).kind;
  return kind == ir::DeclKind::kBuffer || kind == ir::DeclKind::kPushConstant;
}

// The first steps into a block, whose last struct may stand for its members.
size_t AddBlockMember(RegionLowering& region, std::span<const uint32_t> steps, PlaceText& place) {
  std::string name;
  size_t taken = 0;
  // The name is put together from all members on the way, exactly as the struct of the block spells
  // it (BlockMemberName).
  do {
    const uint32_t member = ConstantStep(region, ir::InstId{steps[taken]}).value();
    const ir::ShapeMember& shape = region.pool().Members(place.type)[member];
    place.leaf += region.types().LeafOfMember(place.type, member);
    name = BlockMemberName(name, region.pool().Text(shape.name));
    place.type = shape.type;
    ++taken;
  } while (taken < steps.size() && StandsForItsMembers(region.pool(), place.type));
  place.text += "." + name;
  return taken;
}

// Appends one step, and keeps track of the type that is reached and of the first leaf that lies in
// it.
void AddStep(RegionLowering& region, ir::InstId step, PlaceText& place) {
  const ir::Type type = region.pool()[place.type];
  const std::optional<uint32_t> index = ConstantStep(region, step);
  if (type.kind == ir::TypeKind::kStruct) {
    const ir::ShapeMember& member = region.pool().Members(place.type)[index.value()];
    place.leaf += region.types().LeafOfMember(place.type, *index);
    place.text += "." + region.types().Member(region.pool().Text(member.name));
    place.type = member.type;
    return;
  }
  if (type.kind == ir::TypeKind::kVector && index.has_value()) {
    place.text += kComponents[*index];
    place.type = region.pool().Vector(type.scalar, 1);
    return;
  }
  // The text of the index becomes part of the place, and with it what it reads and how deep it is.
  const Expr value = region.Take(step);
  place.text += "[" + (index.has_value() ? fmt::format("{}u", *index) : value.text) + "]";
  place.reads = place.reads || value.reads;
  place.depth = std::max(place.depth, value.depth + 1);
  if (type.kind == ir::TypeKind::kVector) {
    place.type = region.pool().Vector(type.scalar, 1);
  } else if (type.kind == ir::TypeKind::kMatrix) {
    place.type = region.pool().Vector(type.scalar, type.rows);
  } else {
    place.type = ir::TypeId{type.element};
  }
}

// --- memory that holds atomics
// A statement for each leaf; arrays go item by item in loops.
class AtomicCopy {
 public:
  enum class Way : uint8_t { kLoad, kStore };

  AtomicCopy(RegionLowering& region, std::span<const uint32_t> atomic, Way way)
      : region_(region), atomic_(atomic), way_(way) {}

  // Copies between `memory` and the variable or value `plain`.
  // The recursion is as deep as the type. Parts that hold nothing atomic are copied whole.
  void Run(ir::TypeId type, const std::string& memory, const std::string& plain, uint32_t leaf) {
    CheckStop();
    const ir::Type t = region_.pool()[type];
    if (!region_.types().HoldsAtomic(type, atomic_, leaf)) {
      region_.Line(way_ == Way::kLoad ? fmt::format("{} = {};", plain, memory)
                                      : fmt::format("{} = {};", memory, plain));
    } else if (t.kind == ir::TypeKind::kVector) {
      region_.Line(way_ == Way::kLoad ? fmt::format("{} = atomicLoad(&{});", plain, memory)
                                      : fmt::format("atomicStore(&{}, {});", memory, plain));
    } else if (t.kind == ir::TypeKind::kArray) {
      const std::string i = region_.NewName();
      region_.Open(
          fmt::format("for (var {0} : u32 = 0u; {0} < {1}u; {0} = {0} + 1u) {{", i, t.extent));
      const std::string item = fmt::format("[{}]", i);
      Run(ir::TypeId{t.element}, memory + item, plain + item, leaf);
      region_.Close();
    } else {
      RunMembers(type, memory, plain, leaf);
    }
  }

 private:
  // `leaf` goes on behind each member, so it is always the number of the first leaf of the
  // next.
  void RunMembers(ir::TypeId type, const std::string& memory, const std::string& plain,
                  uint32_t leaf) {
    for (const ir::ShapeMember& member : region_.pool().Members(type)) {
      const std::string name = "." + region_.types().Member(region_.pool().Text(member.name));
      Run(member.type, memory + name, plain + name, leaf);
      leaf += region_.types().LeavesOf(member.type);
    }
  }

  RegionLowering& region_;
  std::span<const uint32_t> atomic_;
  Way way_;
};

// Elements of arrays are handled by HandleOf.
HandleText GlobalHandle(RegionLowering& region, const ir::GlobalRefInst& inst) {
  const std::string& name = region.names().ClassOf(inst.decl).name;
  region.Mention({.decl = inst.decl});
  return {.text = name, .type = inst.type, .decl = inst.decl};
}

}  // namespace

// Each step is text behind the text of its root.
PlaceText PlaceOf(RegionLowering& region, ir::InstId id) {
  const ir::Inst& inst = region.InstOf(id);
  if (inst.kind != ir::InstKind::kAccess) {
    return RootOf(region, id);
  }
  const auto access = inst.As<ir::AccessInst>();
  const std::span<const uint32_t> steps = region.source().List(access.steps);
  PlaceText place = RootOf(region, access.root);
  size_t taken = 0;
  if (IsBlockRoot(region, access.root)) {
    if (!region.typed()) {
      taken = AddBlockMember(region, steps, place);
    } else if (const ir::DeclId decl = region.InstOf(access.root).As<ir::GlobalRefInst>().decl;
               region.names().ClassOf(decl).bare) {
      // The member is the variable itself; leaves are counted as before.
      place.type = region.pool().Members(place.type)[0].type;
      taken = 1;
    }
  }
  for (; taken < steps.size(); ++taken) {
    AddStep(region, ir::InstId{steps[taken]}, place);
  }
  return place;
}

// A temp is a variable with a number for a name.
void LowerTemp(RegionLowering& region, ir::InstId id) {
  region.SetText(id, region.NewVariable(region.Type(region.InstOf(id).type)));
}

// A load of a place that may be written is text that reads: it can wait for its user only until
// something is stored. Atomic loads are never repeated or moved.
void LowerLoad(RegionLowering& region, ir::InstId id, const ir::LoadInst& inst) {
  if (uint32_t row = 0; IsInterfacePlace(region.source(), inst.place, row)) {
    return region.Define(id, InputText(region, row));
  }
  const PlaceText place = PlaceOf(region, inst.place);
  region.types().AddStructs(place.type, region.needs().structs);
  if (!region.types().HoldsAtomic(place.type, place.atomic, place.leaf)) {
    region.Define(
        id, {.text = place.text, .reads = place.reads || !place.constant, .depth = place.depth});
    return;
  }
  if (region.pool()[place.type].kind == ir::TypeKind::kVector) {
    region.DefineHere(id, {.text = fmt::format("atomicLoad(&{})", place.text)});
    return;
  }
  const std::string name = region.NewVariable(region.Type(place.type));
  AtomicCopy(region, place.atomic, AtomicCopy::Way::kLoad)
      .Run(place.type, place.text, name, place.leaf);
  region.SetText(id, name);
}

// The order matters: the place and the value first, then everything that waits, then the store.
void LowerStore(RegionLowering& region, const ir::StoreInst& inst) {
  if (uint32_t row = 0; IsInterfacePlace(region.source(), inst.place, row)) {
    region.typed_region.outputs[row] = ArgumentText(region.Take(inst.value));
    return;
  }
  if (region.typed() && IsFirstZero(region, inst)) {
    return;
  }
  const PlaceText place = PlaceOf(region, inst.place);
  Expr value = region.Take(inst.value);
  const bool atomic = region.types().HoldsAtomic(place.type, place.atomic, place.leaf);
  const bool composite = region.pool()[place.type].kind != ir::TypeKind::kVector;
  // Everything that waits and reads may read this place. It gets its value before the store.
  region.Flush();
  if (!atomic) {
    region.Line(fmt::format("{} = {};", place.text, value.text));
    return;
  }
  if (composite) {
    value = region.Named(region.Type(place.type), value);
  }
  AtomicCopy(region, place.atomic, AtomicCopy::Way::kStore)
      .Run(place.type, place.text, value.text, place.leaf);
}

// A handle is named by the program: a variable, a parameter or an element of an array of images. If
// a value chooses the element all of them are used.
HandleText HandleOf(RegionLowering& region, ir::InstId id) {
  const ir::Inst& inst = region.InstOf(id);
  if (inst.kind == ir::InstKind::kLocalRef) {
    return {.text = region.LocalText(inst.As<ir::LocalRefInst>().local), .type = inst.type};
  }
  if (inst.kind == ir::InstKind::kGlobalRef) {
    return GlobalHandle(region, inst.As<ir::GlobalRefInst>());
  }
  const auto access = inst.As<ir::AccessInst>();
  const auto root = region.InstOf(access.root).As<ir::GlobalRefInst>();
  const ir::InstId step{region.source().List(access.steps)[0]};
  HandleText handle{.text = region.names().ClassOf(root.decl).name,
                    .type = inst.type,
                    .extent = region.pool()[root.type].extent,
                    .index = step,
                    .decl = root.decl};
  const std::optional<uint32_t> element = ConstantStep(region, step);
  handle.dynamic = !element.has_value();
  if (element.has_value()) {
    handle.text = ElementName(handle.text, *element);
    region.Mention({.decl = root.decl, .element = *element});
  } else {
    for (uint32_t i = 0; i < handle.extent; ++i) {
      CheckStop();
      region.Mention({.decl = root.decl, .element = i});
    }
  }
  return handle;
}

}  // namespace kiln::wgsl
