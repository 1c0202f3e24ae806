// SPDX-License-Identifier: MIT
// A leaf has the type that was declared, a row the one that travels; between them stand at most a
// selection of components and a conversion. Of a built-in that is an array a leaf takes the items
// from `first_item` on, one for each component.
#include "compiler/resolve/versions/entry_code.h"

#include <vector>

namespace kiln::resolve {
namespace {

class EntryCode {
 public:
  EntryCode(RegionBuilder& region, const EntryInterface& interface)
      : region_(region), pool_(region.pool()), interface_(interface) {}

  void Load() {
    // A leaf that is `in out` has both rows and is handled twice, once on each way.
    for (const InterfaceLeaf& leaf : interface_.leaves) {
      if (leaf.in == ir::kNoRow) {
        continue;
      }
      const ir::InstId value = FromRow(leaf, RowPlace(leaf.in));
      Store(PlaceOf(leaf), value);
    }
  }

  void Store(ir::InstId result) {
    for (const InterfaceLeaf& leaf : interface_.leaves) {
      if (leaf.out == ir::kNoRow) {
        continue;
      }
      if (leaf.parameter != InterfaceLeaf::kResult) {
        ToRow(leaf, Loaded(PlaceOf(leaf)));
      } else if (result.valid()) {
        // Where nothing is returned, only parameters have outputs.
        ToRow(leaf, PartOf(result, leaf));
      }
    }
    // What a later stage reads and nobody writes must have a value all the same.
    for (const uint32_t row : interface_.unwritten) {
      Store(RowPlace(row), Zero(interface_.rows[row].type));
    }
  }

 private:
  const ir::Type& TypeOf(ir::InstId inst) const { return pool_[region_.TypeOf(inst)]; }
  ir::InstId Loaded(ir::InstId place) {
    return region_.Emit(ir::LoadInst{.type = region_.TypeOf(place), .place = place}.To());
  }
  void Store(ir::InstId place, ir::InstId value) {
    region_.Emit(ir::StoreInst{.type = pool_.void_type(), .place = place, .value = value}.To());
  }
  ir::InstId RowPlace(uint32_t row) {
    return region_.Emit(ir::IoInst{.type = interface_.rows[row].type, .row = row}.To());
  }

  ir::InstId Access(ir::InstId root, ir::TypeId type, std::span<const uint32_t> steps) {
    if (steps.empty()) {
      return root;
    }
    std::vector<uint32_t> numbers;
    for (const uint32_t step : steps) {
      // Steps are instructions in this form, even constant ones.
      numbers.push_back(region_.EmitUint(step).value);
    }
    return region_.Emit(
        ir::AccessInst{.type = type, .root = root, .steps = region_.EmitList(numbers)}.To());
  }

  // Where a leaf of a parameter is kept.
  ir::InstId PlaceOf(const InterfaceLeaf& leaf) {
    const ir::SpecialisedMember& parameter = region_.signature()->members[leaf.parameter];
    const ir::InstId root =
        region_.Emit(ir::LocalRefInst{.type = parameter.type, .local = parameter.local}.To());
    return Access(root, leaf.type, leaf.steps);
  }

  // A leaf of a value.
  ir::InstId PartOf(ir::InstId value, const InterfaceLeaf& leaf) {
    for (const uint32_t step : leaf.steps) {
      value = region_.Emit(ir::ExtractInst{
          .type = pool_.Members(region_.TypeOf(value))[step].type, .value = value, .index = step}
                               .To());
    }
    return value;
  }

  // --- from a row
  ir::InstId FromRow(const InterfaceLeaf& leaf, ir::InstId place) {
    if (IsArrayOfParts(leaf, place)) {
      return FromItems(leaf, place);
    }
    ir::InstId value = Loaded(place);
    if (pool_[leaf.type].kind != ir::TypeKind::kVector) {
      return value;
    }
    value = Cut(value, pool_[leaf.type].rows);
    return Converted(value, leaf.type);
  }

  // The row is an array, the leaf is not: a built-in with items.
  bool IsArrayOfParts(const InterfaceLeaf& leaf, ir::InstId place) const {
    // A leaf that is an array itself has a row of just this type and needs no selection.
    return TypeOf(place).kind == ir::TypeKind::kArray &&
           pool_[leaf.type].kind == ir::TypeKind::kVector;
  }

  ir::InstId Item(const InterfaceLeaf& leaf, ir::InstId place, uint32_t i) {
    const uint32_t step = leaf.first_item + i;
    return Access(place, ir::TypeId{TypeOf(place).element}, std::span(&step, 1));
  }

  ir::InstId FromItems(const InterfaceLeaf& leaf, ir::InstId place) {
    std::vector<uint32_t> parts;
    for (uint32_t i = 0; i < pool_[leaf.type].rows; ++i) {
      // Items are scalars of the built-in; each is converted before the vector is made.
      const ir::TypeId scalar = pool_.Vector(pool_[leaf.type].scalar, 1);
      parts.push_back(Converted(Loaded(Item(leaf, place, i)), scalar).value);
    }
    return parts.size() == 1 ? ir::InstId{parts[0]}
                             : region_.Emit(ir::ConstructInst{.type = leaf.type,
                                                              .operands = region_.EmitList(parts)}
                                                .To());
  }

  // Built-in variables have all their components, and the program may have declared fewer.
  ir::InstId Cut(ir::InstId value, uint32_t rows) {
    const ir::Type type = TypeOf(value);
    if (type.rows == rows) {
      return value;
    }
    constexpr uint8_t kLetters[4] = {0, 1, 2, 3};
    return region_.Emit(ir::SwizzleInst{.type = pool_.Vector(type.scalar, rows),
                                        .value = value,
                                        .letters = ir::PackSwizzle(rows, kLetters)}
                            .To());
  }

  // Between the scalars of leaves and rows, either way. Requires: as many components.
  ir::InstId Converted(ir::InstId value, ir::TypeId to) {
    const ir::Type from = TypeOf(value);
    const ir::Type target = pool_[to];
    if (from.scalar == target.scalar) {
      return value;
    }
    // A boolean travels as a number and is true if it is not zero. Other scalars convert.
    if (target.scalar == ir::Scalar::kBool) {
      return region_.Emit(ir::BinaryInst{.type = to,
                                         .op = ir::BinaryOp::kNotEqual,
                                         .left = value,
                                         .right = Zero(region_.TypeOf(value))}
                              .To());
    }
    return region_.Emit(ir::ConvertInst{.type = to, .value = value}.To());
  }

  // --- to a row
  void ToRow(const InterfaceLeaf& leaf, ir::InstId value) {
    const ir::InstId place = RowPlace(leaf.out);
    if (IsArrayOfParts(leaf, place)) {
      return ToItems(leaf, place, value);
    }
    const bool vector = pool_[leaf.type].kind == ir::TypeKind::kVector;
    Store(place, vector ? Converted(value, region_.TypeOf(place)) : value);
  }

  void ToItems(const InterfaceLeaf& leaf, ir::InstId place, ir::InstId value) {
    const ir::Type type = pool_[leaf.type];
    const ir::TypeId item{TypeOf(place).element};
    for (uint32_t i = 0; i < type.rows; ++i) {
      const ir::InstId part =
          type.rows == 1 ? value
                         : region_.Emit(ir::ExtractInst{
                               .type = pool_.Vector(type.scalar, 1), .value = value, .index = i}
                                            .To());
      Store(Item(leaf, place, i), Converted(part, item));
    }
  }

  ir::InstId Zero(ir::TypeId type) { return region_.EmitConst(ZeroOf(type)); }

  // Rows nest little: arrays and matrices of vectors.
  ir::ConstId ZeroOf(ir::TypeId id) {
    const ir::Type type = pool_[id];
    const bool vector = type.kind == ir::TypeKind::kVector;
    if (vector && type.rows == 1) {
      return pool_.InternScalar(id, 0);
    }
    const uint32_t count = vector                               ? type.rows
                           : type.kind == ir::TypeKind::kMatrix ? type.columns
                                                                : type.extent;
    const ir::TypeId part = vector ? pool_.Vector(type.scalar, 1)
                            : type.kind == ir::TypeKind::kMatrix
                                ? pool_.Vector(type.scalar, type.rows)
                                : ir::TypeId{type.element};
    // All parts are equal, so one constant serves for all.
    const std::vector<ir::ConstId> parts(count, ZeroOf(part));
    return pool_.InternComposite(id, parts);
  }

  RegionBuilder& region_;
  ir::Pool& pool_;
  const EntryInterface& interface_;
};

}  // namespace

// Parameters of an entry become variables: SPIR-V entry points take nothing, and the interface is
// in variables of the module.
void DeclareInputs(RegionBuilder& region) {
  // Every parameter, also one without a row: code of the body refers to it.
  for (const ir::SpecialisedMember& parameter : region.signature()->members) {
    region.out().locals.push_back({.local = parameter.local,
                                   .kind = ir::LocalKind::kVariable,
                                   .name = parameter.name,
                                   .type = parameter.type,
                                   .relaxed = parameter.relaxed});
  }
}

void LoadInputs(RegionBuilder& region, const EntryInterface& interface) {
  // Rows belong to each region of the function, as the emitters look for them there.
  region.out().io = interface.rows;
  EntryCode(region, interface).Load();
}

void StoreOutputs(RegionBuilder& region, const EntryInterface& interface, ir::InstId result) {
  EntryCode(region, interface).Store(result);
}

}  // namespace kiln::resolve
