// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/lower/typed_region.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/base/threads/stop.h"
#include "compiler/emit/wgsl/lower/region_lowering.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::wgsl {
namespace {

using enum ir::InstKind;

// What a local is called: names of values stay, since those of kiln's go around them, but kiln's
// own words of module scope must not be hidden.
std::string LocalNameOf(std::string_view source) {
  std::string name = LegalName(source);
  return name.starts_with("kiln__") ? "x" + name : name;
}

class Preparation {
 public:
  explicit Preparation(RegionLowering& region)
      : region_(region), source_(region.source()), typed_(region.typed_region) {
    typed_.left_out.assign(source_.insts.size(), false);
    typed_.io_used.assign(source_.io.size(), false);
    typed_.outputs.assign(source_.io.size(), {});
  }

  void Run() {
    if (region_.is_body() && source_.insertion_points.empty()) {
      FindCopies();
      FindZeroing();
    }
    ModuleNames();
    RegionNames();
  }

 private:
  const ir::Inst& InstOf(ir::InstId id) const { return source_.insts[id.value]; }
  std::span<const uint32_t> List(ir::ListId list) const { return source_.List(list); }

  // --- inputs that locals are copies of
  // Which local a place lies in.
  std::optional<ir::LocalId> LocalOf(ir::InstId place) const {
    const ir::Inst& inst = InstOf(place);
    const ir::InstId root = inst.kind == kAccess ? inst.As<ir::AccessInst>().root : place;
    return InstOf(root).kind == kLocalRef ? std::optional(InstOf(root).As<ir::LocalRefInst>().local)
                                          : std::nullopt;
  }

  struct Found {
    uint32_t row = 0;
    uint32_t store = 0;
    uint32_t copies = 0;
    bool other = false;  // something else may write it
  };
  Found& Of(ir::LocalId local) {
    const auto known = std::ranges::find(locals_, local, &std::pair<ir::LocalId, Found>::first);
    return known != locals_.end() ? known->second : locals_.emplace_back(local, Found{}).second;
  }

  // A store of a whole input to a whole local of its type.
  std::optional<uint32_t> CopiedRow(const ir::StoreInst& store) const {
    const ir::Inst& value = InstOf(store.value);
    uint32_t row = 0;
    if (InstOf(store.place).kind != kLocalRef || value.kind != kLoad ||
        !IsInterfacePlace(source_, value.As<ir::LoadInst>().place, row) ||
        source_.io[row].direction != ir::Direction::kIn || value.type != InstOf(store.place).type) {
      return std::nullopt;
    }
    return row;
  }

  // A local that is written once, with an input, and otherwise only read is that input. One walk
  // over the rows; linear but for the list of locals.
  void FindCopies() {
    for (uint32_t i = 0; i < source_.insts.size(); ++i) {
      CheckStop();
      const ir::Inst& inst = source_.insts[i];
      if (inst.kind == kStore) {
        const auto store = inst.As<ir::StoreInst>();
        const std::optional<ir::LocalId> local = LocalOf(store.place);
        if (const std::optional<uint32_t> row = CopiedRow(store)) {
          Found& found = Of(*local);
          found = {.row = *row, .store = i, .copies = found.copies + 1, .other = found.other};
        } else if (local.has_value()) {
          Of(*local).other = true;
        }
        continue;
      }
      if (inst.kind == kLoad || inst.kind == kAccess) {
        continue;
      }
      const auto lists = [&](ir::ListId list) { return List(list); };
      ir::ForEachInstOperand(inst, lists, [&](uint32_t operand) {
        if (const std::optional<ir::LocalId> local = LocalOf(ir::InstId{operand})) {
          Of(*local).other = true;
        }
      });
    }
    for (const auto& [local, found] : locals_) {
      if (found.copies == 1 && !found.other) {
        typed_.copies.push_back({local, found.row});
        typed_.left_out[found.store] = true;
      }
    }
  }

  // --- workgroup memory that is written with zero before anything else is done
  // WGSL's workgroup memory begins as zero. Where the body begins with a branch that only writes
  // zeros to it, and then waits, neither changes anything: nothing was written before.
  void FindZeroing() {
    const std::span<const uint32_t> body = source_.InstsOf(source_.body);
    for (size_t i = 0; i + 1 < body.size(); ++i) {
      const ir::Inst& inst = source_.insts[body[i]];
      if (inst.kind == kIf && source_.insts[body[i + 1]].kind == kBarrier) {
        const std::span<const uint32_t> blocks = List(inst.As<ir::IfInst>().blocks);
        if (blocks.size() == 1 && OnlyZeroes(ir::BlockId{blocks[0]}) && CountersAreOwn()) {
          typed_.left_out[body[i]] = true;
          typed_.left_out[body[i + 1]] = true;
        }
        return;
      }
      const bool copy = inst.kind == kStore && LocalOf(inst.As<ir::StoreInst>().place).has_value();
      if (!copy && !IsPure(inst)) {
        return;
      }
    }
  }

  // As deep as blocks nest.
  bool OnlyZeroes(ir::BlockId block) {
    for (const uint32_t id : source_.InstsOf(block)) {
      CheckStop();
      inside_.push_back(id);
      const ir::Inst& inst = source_.insts[id];
      if (inst.kind == kStore && !IsZeroing(inst.As<ir::StoreInst>())) {
        return false;
      }
      const bool structure = inst.kind == kLoop || inst.kind == kScope || inst.kind == kYield;
      if (inst.kind != kStore && !structure && !IsPure(inst)) {
        return false;
      }
      bool good = true;
      const auto lists = [&](ir::ListId list) { return List(list); };
      ir::ForEachOwnedBlock(inst, lists,
                            [&](uint32_t owned) { good = good && OnlyZeroes(ir::BlockId{owned}); });
      if (!good) {
        return false;
      }
    }
    return true;
  }
  // Counters of its loops are locals that nothing outside of it mentions.
  bool CountersAreOwn() const {
    for (uint32_t i = 0; i < source_.insts.size(); ++i) {
      CheckStop();
      if (source_.insts[i].kind == kLocalRef &&
          std::ranges::find(counters_, source_.insts[i].As<ir::LocalRefInst>().local) !=
              counters_.end() &&
          std::ranges::find(inside_, i) == inside_.end()) {
        return false;
      }
    }
    return true;
  }
  bool IsZeroing(const ir::StoreInst& store) {
    const ir::Inst& place = InstOf(store.place);
    const ir::InstId root = place.kind == kAccess ? place.As<ir::AccessInst>().root : store.place;
    if (InstOf(root).kind == kLocalRef) {
      counters_.push_back(InstOf(root).As<ir::LocalRefInst>().local);
      return true;
    }
    if (InstOf(root).kind != kGlobalRef) {
      return false;
    }
    const auto global = InstOf(root).As<ir::GlobalRefInst>();
    return global.direction == ir::Direction::kNone &&
           region_.names().ClassOf(global.decl).kind == ir::DeclKind::kWorkgroup &&
           IsZero(source_, region_.pool(), store.value);
  }

  // --- names
  // Of variables and structs that the text may mention. Functions are named behind all locals.
  void ModuleNames() {
    for (const ir::Mention& mention : source_.mentions) {
      if (region_.names().Knows(mention.decl)) {
        AddName(region_.names().ClassOf(mention.decl).name);
      }
    }
    std::vector<ir::TypeId> structs;
    for (const ir::Inst& inst : source_.insts) {
      AddStructs(inst.type, structs);
    }
    for (const ir::SpecialisedLocal& local : source_.locals) {
      AddStructs(local.type, structs);
    }
    for (const ir::TypeId type : structs) {
      AddName(region_.types().Text(type));
    }
  }
  void AddStructs(ir::TypeId type, std::vector<ir::TypeId>& structs) const {
    const ir::TypeKind kind = region_.pool()[type].kind;
    if (kind == ir::TypeKind::kStruct || kind == ir::TypeKind::kArray ||
        kind == ir::TypeKind::kRuntimeArray) {
      region_.types().AddStructs(type, structs);
    }
  }
  void AddName(const std::string& name) {
    if (!typed_.names.Has(name)) {
      typed_.names.Add(name);
    }
  }

  // Inputs first: those that a local is a copy of have its name.
  void RegionNames() {
    for (uint32_t row = 0; row < source_.io.size(); ++row) {
      std::string_view name = region_.pool().Text(source_.io[row].name);
      const auto copy = std::ranges::find(typed_.copies, row, &InputCopy::row);
      if (copy != typed_.copies.end()) {
        name = NameOfLocal(copy->local);
      }
      // Outputs are members of the result and have names among themselves.
      typed_.io.push_back(source_.io[row].direction == ir::Direction::kIn
                              ? typed_.names.Take(LocalNameOf(name))
                              : std::string());
    }
    std::vector<LocalName> names;
    for (const ir::SpecialisedLocal& local : source_.locals) {
      if (local.kind == ir::LocalKind::kLoopExit || local.kind == ir::LocalKind::kSwitchExit) {
        continue;
      }
      if (const InputCopy* copy = typed_.CopyOf(local.local)) {
        names.push_back({local.local, typed_.io[copy->row]});
        continue;
      }
      std::string name = typed_.names.Take(LocalNameOf(region_.pool().Text(local.name)));
      const bool pointer = local.kind == ir::LocalKind::kParameter &&
                           local.access != ir::Access::kIn && !region_.IsHandle(local.type);
      names.push_back({local.local, pointer ? "(*" + name + ")" : std::move(name)});
    }
    region_.SetNames(std::move(names));
  }
  std::string_view NameOfLocal(ir::LocalId id) const {
    const auto found = std::ranges::find(source_.locals, id, &ir::SpecialisedLocal::local);
    return region_.pool().Text(found->name);
  }

  RegionLowering& region_;
  const ir::SpecialisedRegion& source_;
  TypedRegion& typed_;
  std::vector<std::pair<ir::LocalId, Found>> locals_;
  std::vector<uint32_t> inside_;  // of the branch that writes zeros: its rows
  std::vector<ir::LocalId> counters_;
};

}  // namespace

const InputCopy* TypedRegion::CopyOf(ir::LocalId local) const {
  const auto found = std::ranges::find(copies, local, &InputCopy::local);
  return found == copies.end() ? nullptr : &*found;
}

bool TypedRegion::IsTouched(ir::LocalId local) const {
  return std::ranges::find(touched, local) != touched.end();
}

void PrepareTyped(RegionLowering& region) { Preparation(region).Run(); }

// The mask of samples is an array of one word in SPIR-V, and a word in WGSL.
bool IsInterfacePlace(const ir::SpecialisedRegion& region, ir::InstId place, uint32_t& row) {
  const ir::Inst* inst = &region.insts[place.value];
  if (inst->kind == kAccess) {
    inst = &region.insts[inst->As<ir::AccessInst>().root.value];
  }
  if (inst->kind != kIo) {
    return false;
  }
  row = inst->As<ir::IoInst>().row;
  return true;
}

bool IsZeroConstant(const ir::Pool& pool, ir::ConstId id) {
  const ir::Const& constant = pool[id];
  if (constant.composite == 0) {
    return constant.a == 0 && constant.high == 0;
  }
  return std::ranges::all_of(pool.Parts(id),
                             [&](ir::ConstId part) { return IsZeroConstant(pool, part); });
}

// As deep as the types are nested.
bool IsZero(const ir::SpecialisedRegion& region, const ir::Pool& pool, ir::InstId value) {
  const ir::Inst& inst = region.insts[value.value];
  switch (inst.kind) {
    case kConst:
      return IsZeroConstant(pool, inst.As<ir::ConstInst>().value);
    case kFlag:
      return inst.As<ir::FlagInst>().value == 0;
    case kSplat:
      return IsZero(region, pool, inst.As<ir::SplatInst>().value);
    case kConstruct: {
      const std::span<const uint32_t> parts = region.List(inst.As<ir::ConstructInst>().operands);
      return std::ranges::all_of(
          parts, [&](uint32_t part) { return IsZero(region, pool, ir::InstId{part}); });
    }
    default:
      return false;
  }
}

bool IsPure(const ir::Inst& inst) {
  switch (inst.kind) {
    case kConst:
    case kFlag:
    case kGlobalRef:
    case kStageRef:
    case kLocalRef:
    case kAccess:
    case kConstPlace:
    case kParam:
    case kLoad:
    case kSpecConst:
    case kUnary:
    case kBinary:
    case kConstruct:
    case kSplat:
    case kConvert:
    case kExtract:
    case kSwizzle:
    case kSelect:
    case kBitcast:
    case kInsert:
    case kIo:
      return true;
    case kBuiltinCall: {
      const ir::Builtin builtin = inst.As<ir::BuiltinCallInst>().builtin;
      return !ir::IsAtomic(builtin) && !ir::IsBarrier(builtin) &&
             builtin != ir::Builtin::kImageStore;
    }
    case kImage:
      return inst.As<ir::ImageInst>().op != ir::ImageOp::kWrite;
    default:
      return false;
  }
}

}  // namespace kiln::wgsl
