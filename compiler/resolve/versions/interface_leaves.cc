// SPDX-License-Identifier: MIT
// A walk down the members of parameters and result. On the way down a semantic and a location that
// are given to a whole are handed out to its leaves, one number for each location that a leaf
// takes; what is said further inside of the same is then replaced. Interpolation and index are the
// other way round: what is said inside holds.
//
// Structs nest a few hundred deep at most, but a struct that holds another twice, which holds
// another twice, and so on, has as many leaves as it likes: the walk ends at kMostLeaves.
#include "compiler/resolve/versions/interface_leaves.h"

#include <algorithm>
#include <utility>

#include "compiler/base/threads/stop.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::resolve {
namespace {

constexpr size_t kMostLeaves = 256;  // no device has as many locations

// A number that is handed out to leaves.
struct Counter {
  ir::StringId text{};  // of a semantic
  uint32_t next = 0;
};

// What holders say.
struct HolderInheritance {
  Counter* semantic = nullptr;
  Counter* location = nullptr;
  std::optional<uint32_t> index;
  std::optional<ir::Interpolation> interpolation;
};

// One parameter, member or result on the way down.
struct LeafPart {
  ir::TypeId open{};  // of the module
  ir::TypeId type{};
  std::span<const ir::Attribute> attributes;
};

// A declaration has few attributes.
const ir::Attribute* Find(std::span<const ir::Attribute> attributes, ir::AttributeKey key) {
  const auto found = std::ranges::find(attributes, key, &ir::Attribute::key);
  return found == attributes.end() ? nullptr : &*found;
}

// Walks one entry point. After a fault it returns no leaves, since their numbers could be wrong.
class LeafWalk {
 public:
  LeafWalk(const ir::SpecialisedDecl& signature, VariantEvaluator& answers,
           std::vector<Diagnostic>& diagnostics)
      : signature_(signature),
        answers_(answers),
        program_(answers.program()),
        pool_(answers.pool()),
        module_(program_.ModuleOf(signature.decl)),
        view_(program_.module(module_)),
        diagnostics_(diagnostics) {}

  std::optional<std::vector<Leaf>> Run() {
    for (uint32_t i = 0; i < signature_.members.size(); ++i) {
      // Parameters come before the result, and this is the order of rows in the interface, too.
      AddParameter(i);
    }
    AddResult();
    return failed_ ? std::nullopt : std::optional(std::move(leaves_));
  }

 private:
  void AddParameter(uint32_t row) {
    const ir::SpecialisedMember& parameter = signature_.members[row];
    current_ = {};
    current_.place.parameter = row;
    current_.in = parameter.access != ir::Access::kOut;
    current_.out = parameter.access != ir::Access::kIn;
    current_.path = pool_.Text(parameter.name);
    current_.field = parameter.name;
    current_.origin = parameter.origin;
    current_.where = program_.NameLocation(parameter.member);
    const ir::TypeId open = program_.Get(parameter.member).type;
    // A place is an address, and an address does not travel between stages.
    if (parameter.access == ir::Access::kPlace) {
      return CannotCross(parameter.type);
    }
    SetSource(parameter, open);
    SetForm(parameter);
    Walk({.open = open, .type = parameter.type, .attributes = parameter.attributes}, {});
  }

  // The result is a part without a parameter.
  void AddResult() {
    if (pool_[signature_.type].kind == ir::TypeKind::kVoid) {
      return;
    }
    current_ = {};
    current_.out = true;
    current_.origin = signature_.origin;
    current_.where = program_.NameLocation(signature_.decl);
    if (pool_[signature_.type].kind == ir::TypeKind::kStruct) {
      current_.source = pool_.ShapeOf(signature_.type).name;
    }
    Walk({.open = program_.Get(signature_.decl).type,
          .type = signature_.type,
          .attributes = signature_.attributes},
         {});
  }

  // Which vertex buffer the leaves of a parameter come from.
  void SetSource(const ir::SpecialisedMember& parameter, ir::TypeId open) {
    const ir::SpecialisedDecl* owner = StructOf(open);
    // What stands at the parameter comes before what its struct says.
    const auto said = [&](ir::AttributeKey key) {
      const ir::Attribute* own = Find(parameter.attributes, key);
      return own == nullptr && owner != nullptr ? Find(owner->attributes, key) : own;
    };
    if (const ir::Attribute* rate = said(ir::AttributeKey::kRate)) {
      current_.rate = static_cast<ir::Rate>(rate->a);
    }
    if (const ir::Attribute* source = said(ir::AttributeKey::kSource)) {
      current_.source = ir::StringId{source->a};
    } else if (owner != nullptr) {
      current_.source = owner->name;
    }
  }

  // How a vertex input is packed, and its tags.
  void SetForm(const ir::SpecialisedMember& member) {
    const ir::Member& open = program_.Get(member.member);
    current_.pack = open.pack;
    current_.pack_bits = open.pack_bits;
    current_.tags = member.tags;
  }

  // Null for what is no struct, and after an error, which was told with the struct.
  const ir::SpecialisedDecl* StructOf(ir::TypeId open) {
    const ir::Type& type = view_.types[open.value];
    return type.kind == ir::TypeKind::kDeclared
               ? answers_.Decl(ir::DeclId{program_.bases(module_).decl + type.element})
               : nullptr;
  }

  // Recursion is as deep as structs nest.
  void Walk(const LeafPart& part, HolderInheritance inherited) {
    CheckStop();
    // The counters live in this call. The members below hold pointers to them, and they end with
    // the struct that has said the semantic.
    Counter semantic;
    Counter location;
    Inherit(part, ir::AttributeKey::kSemantic, semantic, &inherited.semantic);
    Inherit(part, ir::AttributeKey::kLocation, location, &inherited.location);
    if (const ir::Attribute* own = Find(part.attributes, ir::AttributeKey::kIndex)) {
      inherited.index = own->a;
    }
    if (const ir::Attribute* own = Find(part.attributes, ir::AttributeKey::kInterpolation)) {
      inherited.interpolation = static_cast<ir::Interpolation>(own->a);
    }
    const ir::Attribute* builtin = Find(part.attributes, ir::AttributeKey::kBuiltin);
    if (pool_[part.type].kind != ir::TypeKind::kStruct) {
      return AddLeaf(part, inherited, builtin);
    }
    if (builtin != nullptr) {
      return Refuse("a built-in variable that is a struct");
    }
    WalkMembers(part, inherited);
  }

  void WalkMembers(const LeafPart& part, const HolderInheritance& inherited) {
    const ir::SpecialisedDecl* owner = StructOf(part.open);
    if (owner == nullptr) {
      failed_ = true;  // said with the struct
      return;
    }
    for (uint32_t i = 0; i < owner->members.size() && !failed_; ++i) {
      const ir::SpecialisedMember& member = owner->members[i];
      // A copy of what is known is kept for each level, which is simpler than undoing each field
      // and costs little with so few leaves.
      const Leaf before = current_;
      current_.path += current_.path.empty() ? "" : ".";
      current_.path += pool_.Text(member.name);
      current_.field = member.name;
      current_.origin = member.origin;
      current_.where = program_.NameLocation(member.member);
      current_.place.steps.push_back(i);
      SetForm(member);
      Walk({.open = program_.Get(member.member).type,
            .type = member.type,
            .attributes = member.attributes},
           inherited);
      current_ = before;
    }
  }

  // What the outermost holder says counts.
  void Inherit(const LeafPart& part, ir::AttributeKey key, Counter& own, Counter** outer) {
    const ir::Attribute* said = Find(part.attributes, key);
    if (said == nullptr) {
      return;
    }
    // `own` lives in the frame of the caller, so it serves the part that said it and all below.
    if (*outer == nullptr) {
      const bool named = key == ir::AttributeKey::kSemantic;
      own = {.text = named ? ir::StringId{said->a} : ir::StringId{},
             .next = named ? said->b : said->a};
      *outer = &own;
    } else if (key == ir::AttributeKey::kSemantic) {
      diagnostics_.push_back(
          Make(Code::kHlsl5005, current_.where)
              .With("path", current_.path)
              .With("semantic", SemanticText(pool_, {(*outer)->text, (*outer)->next})));
    }
  }

  // A leaf is one variable of the stage, which may take several locations.
  void AddLeaf(const LeafPart& part, const HolderInheritance& inherited,
               const ir::Attribute* builtin) {
    // The limit is checked before a leaf is made. It also ends walks over structs whose leaves
    // double with each level.
    if (leaves_.size() == kMostLeaves) {
      failed_ = true;
      diagnostics_.push_back(
          Make(Code::kLim1001, program_.NameLocation(signature_.decl))
              .With("what", "the interface of '" + std::string(pool_.Text(signature_.name)) + "'")
              .With("parts", "variables")
              .With("limit", kMostLeaves));
      return;
    }
    if (!CanCross(part.type)) {
      return CannotCross(part.type);
    }
    Leaf leaf = current_;
    leaf.path = PathText();
    leaf.place.type = part.type;
    leaf.index = inherited.index;
    leaf.interpolation = inherited.interpolation;
    leaf.builtin = builtin != nullptr ? ir::StringId{builtin->a} : ir::StringId{};
    const uint32_t count = LocationsOf(pool_, part.type);
    if (inherited.semantic != nullptr) {
      leaf.semantic = SemanticName{inherited.semantic->text, inherited.semantic->next};
      inherited.semantic->next += count;
    }
    // Several locations of one leaf are taken at once, so the next leaf begins behind them.
    if (inherited.location != nullptr) {
      leaf.location = inherited.location->next;
      inherited.location->next += count;
    }
    leaves_.push_back(std::move(leaf));
  }

  void CannotCross(ir::TypeId type) {
    failed_ = true;
    diagnostics_.push_back(Make(Code::kHlsl5009, current_.where)
                               .With("path", PathText())
                               .With("type", ir::TypeText(pool_, type)));
  }

  std::string PathText() const { return current_.path.empty() ? "result" : current_.path; }

  // Vectors, matrices that are not of booleans, and arrays of those of few items.
  bool CanCross(ir::TypeId type) const {
    uint64_t items = 1;
    // The product stops growing above the limit, so it cannot overflow.
    while (pool_[type].kind == ir::TypeKind::kArray && items <= kMostLeaves) {
      items *= pool_[type].extent;
      type = ir::TypeId{pool_[type].element};
    }
    const ir::Type& item = pool_[type];
    // An array of one item is treated like the item.
    const bool array = items != 1;
    const bool fits =
        item.kind == ir::TypeKind::kVector
            ? !array || (item.scalar != ir::Scalar::kBool && ir::BitWidthOf(item.scalar) != 16)
            : item.kind == ir::TypeKind::kMatrix && ir::IsFloatScalar(item.scalar) &&
                  ir::BitWidthOf(item.scalar) != 16;
    return fits && items <= kMostLeaves;
  }

  // Front ends refuse what gets here: it is a module that another process made.
  void Refuse(std::string_view what) {
    failed_ = true;
    diagnostics_.push_back(Make(Code::kRpl9001, current_.where).With("text", what));
  }

  const ir::SpecialisedDecl& signature_;
  VariantEvaluator& answers_;
  const Program& program_;
  ir::Pool& pool_;
  const uint32_t module_;
  const ir::ModuleView& view_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<Leaf> leaves_;
  Leaf current_;  // what is known on the way down
  bool failed_ = false;
};

}  // namespace

// The number 0 is not written, as sources leave it out.
std::string SemanticText(const ir::Pool& pool, const SemanticName& semantic) {
  std::string text(pool.Text(semantic.text));
  return semantic.index == 0 ? text : text + std::to_string(semantic.index);
}

// Requires: CanCross, which bounds the product.
uint32_t LocationsOf(const ir::Pool& pool, ir::TypeId type) {
  uint32_t items = 1;
  while (pool[type].kind == ir::TypeKind::kArray) {
    items *= pool[type].extent;
    type = ir::TypeId{pool[type].element};
  }
  const ir::Type& item = pool[type];
  const uint32_t columns = item.kind == ir::TypeKind::kMatrix ? item.columns : 1;
  // Three or four components of 64 bits take two locations.
  const bool long_column = ir::BitWidthOf(item.scalar) == 64 && item.rows > 2;
  return items * columns * (long_column ? 2 : 1);
}

std::optional<std::vector<Leaf>> LeavesOf(const ir::SpecialisedDecl& signature,
                                          VariantEvaluator& answers,
                                          std::vector<Diagnostic>& diagnostics) {
  return LeafWalk(signature, answers, diagnostics).Run();
}

}  // namespace kiln::resolve
