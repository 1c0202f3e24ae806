// SPDX-License-Identifier: MIT
// A leaf that is `in out` becomes two rows. Distances to clip planes are the other way round: all
// leaves of one direction share one array, in which they lie by the index of their semantics.
#include "compiler/resolve/versions/interface_rows.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/enum_names.h"
#include "compiler/ir/interface/semantics.h"
#include "compiler/resolve/attribute_format.h"

namespace kiln::resolve {
namespace {

using ir::BuiltinVariable;

// The least that Vulkan promises, and what Direct3D has.
// spec/hlsl 17.2.
constexpr uint32_t kMostTargets = 8;
constexpr uint32_t kMostDistances = 8;

// Scalars that are not interpolated: spec/hlsl 17.5.
bool IsFlatScalar(ir::Scalar scalar) {
  return ir::IsIntegerScalar(scalar) || scalar == ir::Scalar::kBool || scalar == ir::Scalar::kF64;
}

class RowMaker {
 public:
  RowMaker(InterfaceDraft& draft, ir::Pool& pool, std::vector<Diagnostic>& diagnostics)
      : draft_(draft), pool_(pool), diagnostics_(diagnostics) {}

  // In the order of the leaves, so rows are numbered as the source declares them.
  bool Run() {
    for (Leaf& leaf : draft_.leaves) {
      if (leaf.in) {
        leaf.place.in = Add(leaf, ir::Direction::kIn);
      }
      if (leaf.out) {
        leaf.place.out = Add(leaf, ir::Direction::kOut);
      }
    }
    // Distances wait until all leaves are known, because one array takes those of all of them.
    AddDistances(BuiltinVariable::kClipDistance);
    AddDistances(BuiltinVariable::kCullDistance);
    CheckDistances();
    CheckSemantics();
    return !failed_;
  }

 private:
  // Built-in variables that several leaves share wait here for all of them.
  struct Distances {
    BuiltinVariable builtin = BuiltinVariable::kNone;
    ir::Direction direction = ir::Direction::kIn;
    uint32_t leaf = 0;
    uint32_t index = 0;
    uint32_t count = 0;
  };

  // The row of a leaf in one direction; kNoRow if there is none, or none yet.
  uint32_t Add(const Leaf& leaf, ir::Direction direction) {
    const BuiltinVariable place = PlaceOf(leaf, direction);
    switch (place) {
      case BuiltinVariable::kNone:
        return ir::kNoRow;  // said
      case BuiltinVariable::kLocated:
        return AddLocated(leaf, direction);
      // What has no row yet gets its number in AddArray.
      case BuiltinVariable::kClipDistance:
      case BuiltinVariable::kCullDistance:
        AddDistance(leaf, direction, place);
        return ir::kNoRow;  // not yet
      default:
        return AddBuiltin(leaf, direction, place);
    }
  }

  // Which variable a leaf is: one with a location, or a built-in one. `[[vk::builtin]]`
  // replaces the semantic, and a location alone needs none.
  BuiltinVariable PlaceOf(const Leaf& leaf, ir::Direction direction) {
    if (leaf.builtin.valid()) {
      return NamedBuiltin(leaf, direction);
    }
    if (!leaf.semantic.has_value()) {
      if (!leaf.location.has_value()) {
        // Without semantic, location or built-in nothing says where the value comes from.
        Fail(Make(Code::kHlsl5001, leaf.where)
                 .With("direction", DirectionText(direction))
                 .With("path", leaf.path)
                 .With("entry", draft_.entry));
        return BuiltinVariable::kNone;
      }
      if (draft_.stage == ir::Stage::kCompute) {
        NotAvailable(leaf, direction, "location");
        return BuiltinVariable::kNone;
      }
      return BuiltinVariable::kLocated;
    }
    const std::string_view name = pool_.Text(leaf.semantic->text);
    const BuiltinVariable place = ir::PlaceOfSemantic(name, draft_.stage, direction);
    // Only the number decides here; that a target is written once is checked with all semantics.
    const bool too_many =
        ir::SemanticKey(name) == "SV_TARGET" && leaf.semantic->index >= kMostTargets;
    if (place == BuiltinVariable::kNone || too_many) {
      NotAvailable(leaf, direction, SemanticText(pool_, *leaf.semantic));
      return BuiltinVariable::kNone;
    }
    // Known to HLSL and not to this version, which is another message than a semantic that does not
    // exist.
    if (place == BuiltinVariable::kLacking) {
      Fail(Make(Code::kHlsl8004, leaf.where)
               .With("text", SemanticText(pool_, *leaf.semantic))
               .With("family", "system values of later tiers"));
      return BuiltinVariable::kNone;
    }
    return place;
  }

  // spec/hlsl 17.2, last row.
  BuiltinVariable NamedBuiltin(const Leaf& leaf, ir::Direction direction) {
    const std::string_view name = pool_.Text(leaf.builtin);
    const std::optional<BuiltinVariable> found = ir::FindBuiltinVariable(name);
    if (!found.has_value() || !ir::ExistsIn(*found, draft_.stage, direction)) {
      NotAvailable(leaf, direction, name);
      return BuiltinVariable::kNone;
    }
    return *found;
  }

  void NotAvailable(const Leaf& leaf, ir::Direction direction, std::string_view what) {
    Fail(Make(Code::kHlsl5003, leaf.where)
             .With("semantic", what)
             .With("stage", ir::NameOf(draft_.stage))
             .With("direction", DirectionText(direction)));
  }

  // What all rows have of their leaf. The reference is valid until the next row is made.
  DraftRow& NewRow(const Leaf& leaf, ir::Direction direction, ir::TypeId type) {
    DraftRow& made = draft_.rows.emplace_back();
    made.row = {.name = pool_.InternText(leaf.path),
                .type = type,
                .direction = direction,
                .field = leaf.field,
                .source = leaf.source,
                .rate = leaf.rate,
                .pack = leaf.pack,
                .pack_bits = leaf.pack_bits,
                .tags = leaf.tags,
                .origin = leaf.origin};
    made.path = leaf.path;
    made.where = leaf.where;
    return made;
  }
  uint32_t LastRow() const { return static_cast<uint32_t>(draft_.rows.size() - 1); }

  void AddAttribute(DraftRow& row, ir::AttributeKey key, uint32_t a, uint32_t b = 0) {
    row.row.attributes.push_back({.key = key, .a = a, .b = b});
  }

  // --- rows with locations
  // spec/hlsl 17.3: locations are written, or given later by the layout.
  uint32_t AddLocated(const Leaf& leaf, ir::Direction direction) {
    DraftRow& made = NewRow(leaf, direction, TravelType(leaf.place.type));
    made.located = true;
    made.semantic = leaf.semantic;
    made.location = leaf.location;
    made.given = leaf.location.has_value();
    made.index = leaf.index.value_or(0);
    if (leaf.semantic.has_value()) {
      AddAttribute(made, ir::AttributeKey::kSemantic, leaf.semantic->text.value,
                   leaf.semantic->index);
      // A target without a location of its own lies at its number.
      if (ir::SemanticKey(pool_.Text(leaf.semantic->text)) == "SV_TARGET" && !made.given) {
        made.location = leaf.semantic->index;
      }
    }
    if (draft_.stage == ir::Stage::kVertex && direction == ir::Direction::kIn) {
      Pack(leaf, made);
    }
    // Only what goes from the vertex stage to the fragment stage is interpolated.
    const bool varies = (draft_.stage == ir::Stage::kVertex) == (direction == ir::Direction::kOut);
    if (varies) {
      Interpolate(leaf, direction, made);
    }
    return LastRow();
  }

  // Arrays travel as their items do.
  ir::TypeId ItemOf(ir::TypeId type) const {
    while (pool_[type].kind == ir::TypeKind::kArray) {
      type = ir::TypeId{pool_[type].element};
    }
    return type;
  }

  // How a vertex input lies in its buffer.
  void Pack(const Leaf& leaf, DraftRow& made) {
    const ir::TypeId item = ItemOf(made.row.type);
    const AttributeFormat format = FormatOf(leaf.pack, leaf.pack_bits, pool_[item].scalar);
    // Warnings of the format are no failure, so only the new errors count.
    const size_t before = diagnostics_.size();
    CheckFormat(format, pool_, item, leaf.path, leaf.where, diagnostics_);
    failed_ = failed_ || HasErrors(std::span(diagnostics_).subspan(before));
    made.row.pack = format.pack;
    made.row.pack_bits = format.bits;
  }

  // spec/hlsl 17.5: integers must be flat, and are if nothing is written.
  void Interpolate(const Leaf& leaf, ir::Direction direction, DraftRow& made) {
    const bool flat = IsFlatScalar(pool_[ItemOf(leaf.place.type)].scalar);
    const ir::Interpolation said =
        leaf.interpolation.value_or(flat ? ir::Interpolation::kFlat : ir::Interpolation::kSmooth);
    if (flat && said != ir::Interpolation::kFlat) {
      Fail(Make(Code::kHlsl5008, leaf.where)
               .With("direction", DirectionText(direction))
               .With("path", leaf.path)
               .With("modifier", ir::NameOf(said)));
    }
    if (said != ir::Interpolation::kSmooth) {
      AddAttribute(made, ir::AttributeKey::kInterpolation, static_cast<uint32_t>(said));
    }
  }

  // Booleans have no form between stages, and scalars of 16 bits need a feature of the device.
  // spec/hlsl 17.5: booleans travel as words. 16-bit ones widen.
  ir::TypeId TravelType(ir::TypeId type) {
    const ir::Type shape = pool_[type];
    if (shape.kind != ir::TypeKind::kVector) {
      return type;
    }
    switch (shape.scalar) {
      case ir::Scalar::kBool:
      case ir::Scalar::kU16:
        return pool_.Vector(ir::Scalar::kU32, shape.rows);
      case ir::Scalar::kS16:
        return pool_.Vector(ir::Scalar::kS32, shape.rows);
      case ir::Scalar::kF16:
        return pool_.Vector(ir::Scalar::kF32, shape.rows);
      default:
        return type;
    }
  }

  // --- built-in variables
  // A leaf has the scalar of the built-in, or the other integer, and no more components.
  // spec/hlsl 17.2, last column: compute's ids may be cut and converted.
  uint32_t AddBuiltin(const Leaf& leaf, ir::Direction direction, BuiltinVariable builtin) {
    const ir::BuiltinVariableFacts& facts = ir::FactsOf(builtin);
    const ir::Type& type = pool_[leaf.place.type];
    const bool integer = facts.scalar == ir::Scalar::kU32;
    const bool scalar_fits =
        type.scalar == facts.scalar || (integer && type.scalar == ir::Scalar::kS32);
    const bool whole = direction == ir::Direction::kOut;
    // Less of a built-in may be read, but it must be written as a whole.
    const bool rows_fit = whole ? type.rows == facts.rows : type.rows <= facts.rows;
    const ir::TypeId item = pool_.Vector(facts.scalar, facts.rows);
    if (type.kind != ir::TypeKind::kVector || !scalar_fits || !rows_fit) {
      Fail(Make(Code::kHlsl5004, leaf.where)
               .With("semantic", leaf.builtin.valid() ? std::string(pool_.Text(leaf.builtin))
                                                      : SemanticText(pool_, *leaf.semantic))
               .With("expected", ir::TypeText(pool_, item))
               .With("type", ir::TypeText(pool_, leaf.place.type)));
      return ir::kNoRow;
    }
    if (const uint32_t known = FindBuiltin(builtin, direction); known != ir::kNoRow) {
      Twice(draft_.rows[known], leaf, direction);
      return ir::kNoRow;
    }
    DraftRow& made = NewRow(
        leaf, direction, facts.items == 0 ? item : pool_.Intern(ir::ArrayType(item, facts.items)));
    AddAttribute(made, ir::AttributeKey::kBuiltin, pool_.InternText(facts.name).value);
    // Vulkan wants each integer that a fragment reads to be flat, a built-in variable too.
    if (draft_.stage == ir::Stage::kFragment && direction == ir::Direction::kIn &&
        ir::IsIntegerScalar(facts.scalar)) {
      AddAttribute(made, ir::AttributeKey::kInterpolation,
                   static_cast<uint32_t>(ir::Interpolation::kFlat));
    }
    return LastRow();
  }

  // Rows are at most 256 (LIM1001), so a search is cheap.
  uint32_t FindBuiltin(BuiltinVariable builtin, ir::Direction direction) const {
    for (uint32_t i = 0; i < draft_.rows.size(); ++i) {
      const ir::Attribute* named = draft_.rows[i].row.Find(ir::AttributeKey::kBuiltin);
      if (named != nullptr && draft_.rows[i].row.direction == direction &&
          pool_.Text(ir::StringId{named->a}) == ir::FactsOf(builtin).name) {
        return i;
      }
    }
    return ir::kNoRow;
  }

  void Twice(const DraftRow& first, const Leaf& leaf, ir::Direction direction) {
    Fail(Make(Code::kHlsl5002, leaf.where)
             .With("direction", DirectionText(direction))
             .With("semantic", leaf.semantic.has_value() ? SemanticText(pool_, *leaf.semantic)
                                                         : std::string(pool_.Text(leaf.builtin)))
             .Label(LabelKind::kFirstHere, first.where));
  }

  // --- distances to clip planes
  // spec/hlsl 17.2: one array for each kind and direction, packed by the index of the semantic.
  void AddDistance(const Leaf& leaf, ir::Direction direction, BuiltinVariable builtin) {
    const ir::Type& type = pool_[leaf.place.type];
    if (type.kind != ir::TypeKind::kVector || type.scalar != ir::Scalar::kF32) {
      return WrongDistances(leaf);
    }
    distances_.push_back({.builtin = builtin,
                          .direction = direction,
                          .leaf = static_cast<uint32_t>(&leaf - draft_.leaves.data()),
                          .index = leaf.semantic.has_value() ? leaf.semantic->index : 0,
                          .count = type.rows});
  }

  void WrongDistances(const Leaf& leaf) {
    Fail(Make(Code::kHlsl5013, leaf.where)
             .With("semantic", leaf.semantic.has_value() ? SemanticText(pool_, *leaf.semantic)
                                                         : std::string(pool_.Text(leaf.builtin))));
  }

  void AddDistances(BuiltinVariable builtin) {
    for (const ir::Direction direction : {ir::Direction::kIn, ir::Direction::kOut}) {
      std::vector<Distances> found;
      std::ranges::copy_if(distances_, std::back_inserter(found), [&](const Distances& one) {
        return one.builtin == builtin && one.direction == direction;
      });
      // Stable, so leaves with one index keep the order of their declaration.
      std::ranges::stable_sort(found, {}, &Distances::index);
      if (!found.empty()) {
        AddArray(builtin, direction, found);
      }
    }
  }

  // The row is named after the first of its parts; each part knows where it begins.
  void AddArray(BuiltinVariable builtin, ir::Direction direction,
                std::span<const Distances> parts) {
    uint32_t items = 0;
    for (const Distances& part : parts) {
      items += part.count;
    }
    const ir::TypeId type = pool_.Intern(ir::ArrayType(pool_.Vector(ir::Scalar::kF32, 1), items));
    DraftRow& made = NewRow(draft_.leaves[parts[0].leaf], direction, type);
    AddAttribute(made, ir::AttributeKey::kBuiltin,
                 pool_.InternText(ir::FactsOf(builtin).name).value);
    uint32_t next = 0;
    for (const Distances& part : parts) {
      InterfaceLeaf& place = draft_.leaves[part.leaf].place;
      (direction == ir::Direction::kIn ? place.in : place.out) = LastRow();
      place.first_item = std::exchange(next, next + part.count);
    }
  }

  // Both kinds together are as many as the devices have.
  void CheckDistances() {
    for (const ir::Direction direction : {ir::Direction::kIn, ir::Direction::kOut}) {
      uint32_t count = 0;
      for (const Distances& one : distances_) {
        count += one.direction == direction ? one.count : 0;
        if (one.direction == direction && count > kMostDistances) {
          return WrongDistances(draft_.leaves[one.leaf]);
        }
      }
    }
  }

  // --- semantics
  // Each name and number once in a direction; a leaf has as many numbers as locations.
  // spec/hlsl 17.1: HLSL5002.
  void CheckSemantics() {
    for (size_t i = 0; i < draft_.rows.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        if (Overlap(draft_.rows[i], draft_.rows[k])) {
          Fail(Make(Code::kHlsl5002, draft_.rows[i].where)
                   .With("direction", DirectionText(draft_.rows[i].row.direction))
                   .With("semantic", SemanticText(pool_, *draft_.rows[i].semantic))
                   .Label(LabelKind::kFirstHere, draft_.rows[k].where));
          break;
        }
      }
    }
  }

  // A matrix takes one number for each location, and none of them may be taken twice.
  bool Overlap(const DraftRow& a, const DraftRow& b) const {
    if (!a.semantic.has_value() || !b.semantic.has_value() || a.row.direction != b.row.direction ||
        a.index != b.index ||
        ir::SemanticKey(pool_.Text(a.semantic->text)) !=
            ir::SemanticKey(pool_.Text(b.semantic->text))) {
      return false;
    }
    const auto end = [&](const DraftRow& row) {
      return uint64_t{row.semantic->index} + LocationsOf(pool_, row.row.type);
    };
    return a.semantic->index < end(b) && b.semantic->index < end(a);
  }

  void Fail(Diagnostic found) {
    failed_ = true;
    diagnostics_.push_back(std::move(found));
  }

  InterfaceDraft& draft_;
  ir::Pool& pool_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<Distances> distances_;
  bool failed_ = false;
};

}  // namespace

std::string_view DirectionText(ir::Direction direction) {
  return direction == ir::Direction::kIn ? "input" : "output";
}

bool MakeRows(InterfaceDraft& draft, ir::Pool& pool, std::vector<Diagnostic>& diagnostics) {
  return RowMaker(draft, pool, diagnostics).Run();
}

}  // namespace kiln::resolve
