// SPDX-License-Identifier: MIT
// Peels the array sizes off a written type, specialises what is left and puts the sizes back.
#include "compiler/resolve/specialise/specialise_type.h"

#include <algorithm>
#include <optional>
#include <string>

#include "compiler/base/check.h"
#include "compiler/base/flat_map.h"

namespace kiln::resolve {
namespace {

// Sizes and offsets must end below this (spec/rpl 1.5). Products are cut off here, so that they
// cannot overflow 64 bits.
constexpr uint64_t kSizeLimit = uint64_t{1} << 32;

// One type as it is written, for one variant. Messages stand at its name or at the size that is
// wrong, and name what has the type.
class TypeSpecialiser {
 public:
  TypeSpecialiser(const WrittenType& written, VariantEvaluator& answers,
                  std::vector<Diagnostic>& diagnostics)
      : written_(written),
        answers_(answers),
        program_(answers.program()),
        view_(program_.module(written.module)),
        pool_(answers.pool()),
        diagnostics_(diagnostics) {}

  // Leaf and sizes are both specialised before anything is refused, so that all messages of one
  // type come together.
  ir::TypeId Run() {
    const ir::Type* row = &view_.types[written_.type.value];
    while (row->kind == ir::TypeKind::kArray || row->kind == ir::TypeKind::kRuntimeArray) {
      sizes_.push_back(row);
      row = &view_.types[row->element];
    }
    const ir::TypeId leaf = SpecialiseLeaf(*row);
    const bool sized = SpecialiseSizes();
    if (!leaf.valid() || !sized || !CheckUse(leaf)) {
      return {};
    }
    // The innermost size is the last in the list, so putting them back goes from the end.
    ir::TypeId type = leaf;
    for (size_t i = sizes_.size(); i > 0; --i) {
      const bool runtime = sizes_[i - 1]->kind == ir::TypeKind::kRuntimeArray;
      type = pool_.Intern({.kind = sizes_[i - 1]->kind,
                           .element = type.value,
                           .extent = runtime ? 0 : counts_[i - 1]});
    }
    return CheckSize(type) && CheckItems(type) ? type : ir::TypeId{};
  }

 private:
  // The run of spans has the name first and then a node for each expression of the sizes.
  Location Where(uint32_t node) const {
    return program_.At(written_.module, written_.spans.valid()
                                            ? ir::SpanId{written_.spans.value + node}
                                            : ir::SpanId{});
  }
  Diagnostic& Report(Code code) { return diagnostics_.emplace_back(Make(code, Where(0))); }

  // What is left without the sizes. Invalid after an error.
  ir::TypeId SpecialiseLeaf(const ir::Type& row) {
    switch (row.kind) {
      case ir::TypeKind::kVector:
        return pool_.Vector(row.scalar, row.rows);
      case ir::TypeKind::kMatrix:
        return pool_.Matrix(row.scalar, row.columns, row.rows);
      case ir::TypeKind::kVoid:
        return pool_.void_type();
      case ir::TypeKind::kSampler:
      case ir::TypeKind::kImage:
      case ir::TypeKind::kSampledImage:
      case ir::TypeKind::kAccel:
      case ir::TypeKind::kRayQuery:
        return pool_.Intern(row);
      case ir::TypeKind::kNamed:
        return SpecialiseNamed(ir::StringId{row.element});
      case ir::TypeKind::kArray:
      case ir::TypeKind::kRuntimeArray:
      case ir::TypeKind::kStruct:
      // A typed module names the declaration itself; no name is looked up.
      case ir::TypeKind::kDeclared: {
        const ir::SpecialisedDecl* specialised =
            answers_.Decl(ir::DeclId{program_.bases(written_.module).decl + row.element});
        return specialised != nullptr ? specialised->type : ir::TypeId{};
      }
      case ir::TypeKind::kDeferred:
        break;
    }
    KILN_UNREACHABLE();
  }

  // Two declarations of one name, and one that failed, were reported where that was found.
  ir::TypeId SpecialiseNamed(ir::StringId text) {
    const NameResolution answer = answers_.Struct(program_.Name(written_.module, text));
    if (answer.kind == NameResolution::Kind::kDecl) {
      const ir::SpecialisedDecl* specialised = answers_.Decl(answer.decl());
      return specialised != nullptr ? specialised->type : ir::TypeId{};
    }
    if (answer.kind == NameResolution::Kind::kNone) {
      const std::string_view name = view_.Text(text);
      if (written_.use == TypeUse::kConstructor) {
        Report(Code::kRpl6056).arguments = {{"type", name}};
      } else {
        Report(Code::kRpl4010).arguments = {{"type", name}, {"name", written_.owner}};
      }
    }
    return {};
  }

  // Evaluates every size, so that all that is wrong is said at once.
  bool SpecialiseSizes() {
    bool good = true;
    uint32_t run = 1;  // behind the type name
    for (const ir::Type* row : sizes_) {
      // No expression belongs to it, so the run of spans has no node for it.
      if (row->kind == ir::TypeKind::kRuntimeArray) {
        counts_.push_back(0);
        continue;
      }
      const ir::CexprId extent = program_.Wide(written_.module, ir::CexprId{row->extent});
      const std::optional<uint32_t> count = SpecialiseSize(extent, Where(run));
      // Equal expressions are one row, but each use has spans for its whole tree.
      run += program_.TreeSize(extent);
      good = good && count.has_value();
      counts_.push_back(count.value_or(0));
    }
    return good;
  }

  // Nothing after an error.
  std::optional<uint32_t> SpecialiseSize(ir::CexprId extent, const Location& where) {
    const Value value = answers_.Check(
        extent, where,
        {.global_only = written_.global_only, .what = written_.position, .name = written_.owner},
        diagnostics_);
    if (value.failed()) {
      return std::nullopt;
    }
    if (value.kind != ir::ValueKind::kUint && value.kind != ir::ValueKind::kSint) {
      diagnostics_.push_back(Make(Code::kRpl4001, where)
                                 .With("name", written_.owner)
                                 .With("type", KindText(value.kind)));
      return std::nullopt;
    }
    if (value.bits == 0 ||
        (value.kind == ir::ValueKind::kSint && static_cast<int32_t>(value.bits) < 0)) {
      diagnostics_.push_back(
          Make(Code::kRpl4002, where).With("name", written_.owner).With("value", ValueText(value)));
      return std::nullopt;
    }
    return value.bits;
  }

  // What a position allows, as spec/rpl 4.1 and docs/IR.md have it: runtime arrays only at the end
  // of memory, handles only where they can be passed or declared.
  bool IsAllowed(const ir::Type& leaf) const {
    const bool plain = leaf.kind == ir::TypeKind::kVector || leaf.kind == ir::TypeKind::kMatrix ||
                       leaf.kind == ir::TypeKind::kStruct;
    const bool runtime = std::ranges::any_of(
        sizes_, [](const ir::Type* row) { return row->kind == ir::TypeKind::kRuntimeArray; });
    switch (written_.use) {
      case TypeUse::kField:
      case TypeUse::kBuffers:
        return plain && (!runtime || sizes_.size() == 1);
      case TypeUse::kLocal:
      case TypeUse::kConstructor:
        return plain && !runtime;
      case TypeUse::kParameter:
        return sizes_.empty() ? plain || leaf.kind != ir::TypeKind::kVoid : plain && !runtime;
      case TypeUse::kPlace:
        return leaf.kind != ir::TypeKind::kVoid && (!runtime || sizes_.size() == 1);
      case TypeUse::kReturn:
        if (view_.header.typed != 0 && plain) {  // the first value of a variable may be an array
          return !runtime;
        }
        return sizes_.empty() && (plain || leaf.kind == ir::TypeKind::kVoid);
      case TypeUse::kImageExtent:
        if (view_.header.typed != 0) {
          return !runtime && !plain && leaf.kind != ir::TypeKind::kVoid;
        }
        return (leaf.kind == ir::TypeKind::kImage && sizes_.size() <= 1 && !runtime) ||
               (leaf.kind == ir::TypeKind::kSampler && sizes_.empty());
    }
    KILN_UNREACHABLE();
  }

  std::string_view UseText() const {
    switch (written_.use) {
      case TypeUse::kField:
      case TypeUse::kBuffers:
        return "field";
      case TypeUse::kParameter:
      case TypeUse::kPlace:
        return "argument";
      case TypeUse::kLocal:
        return "variable";
      case TypeUse::kReturn:
        return "return value";
      case TypeUse::kConstructor:
        return "constructor";
      case TypeUse::kImageExtent:
        return "image";
    }
    KILN_UNREACHABLE();
  }

  // Of what has no value, items need no counting and run-time arrays may end it.
  bool IsInMemory() const {
    return written_.use == TypeUse::kField || written_.use == TypeUse::kBuffers ||
           written_.use == TypeUse::kPlace;
  }

  bool CheckUse(ir::TypeId leaf) {
    const bool field = IsInMemory();
    if (!IsAllowed(pool_[leaf])) {
      std::string text = ir::TypeText(pool_, leaf);
      for (const uint32_t count : counts_) {
        // The text is put together from sizes that are known now, and a zero stands for `...`.
        text += count == 0 ? "..." : "[" + std::to_string(count) + "]";
      }
      if (written_.use == TypeUse::kConstructor) {
        Report(Code::kRpl6058).arguments = {{"type", text}};
      } else {
        Report(Code::kRpl4011).arguments = {
            {"kind", UseText()}, {"name", written_.owner}, {"type", text}};
      }
      return false;
    }
    // A struct that ends in a runtime array has no value and no size, so it can be nothing but the
    // last field itself, or each of an array of buffers.
    const bool alone = sizes_.empty() || written_.use == TypeUse::kBuffers;
    if (pool_[leaf].kind == ir::TypeKind::kStruct && (!field || !alone) &&
        HasRuntimeArray(pool_, leaf)) {
      Report(Code::kRpl4015).arguments = {{"type", pool_.Text(pool_.ShapeOf(leaf).name)},
                                          {"name", written_.owner}};
      return false;
    }
    return true;
  }

  // Vectors and matrices that a value of this type holds; none if the type has no values.
  // `known` has the structs that were counted: types may double at each level.
  uint64_t LeavesOf(ir::TypeId id, FlatMap<uint32_t, uint64_t>& known) {
    const ir::Type& type = pool_[id];
    // The limit is applied at every step, so a product of two of these numbers stays below 64 bits.
    if (type.kind == ir::TypeKind::kArray) {
      return std::min(kSizeLimit, LeavesOf(ir::TypeId{type.element}, known) * type.extent);
    }
    if (type.kind != ir::TypeKind::kStruct) {
      return 1;
    }
    if (const uint64_t* count = known.Find(id.value)) {
      return *count;
    }
    uint64_t count = 0;
    for (const ir::ShapeMember& member : pool_.Members(id)) {
      count = std::min(kSizeLimit, count + LeavesOf(member.type, known));
    }
    known.Insert(id.value, count);
    return count;
  }

  // Values are copied item by item where layouts differ, so their number is bounded.
  bool CheckItems(ir::TypeId type) {
    if (IsInMemory()) {
      return true;
    }
    FlatMap<uint32_t, uint64_t> known;
    const uint64_t count = LeavesOf(type, known);
    if (count > program_.limits().value_items) {
      Report(Code::kLim1001).arguments = {
          {"what", std::string(UseText()) + " '" + std::string(written_.owner) + "'"},
          {"parts", "items"},
          {"limit", program_.limits().value_items}};
    }
    return count <= program_.limits().value_items;
  }

  // The least size in bytes; layout adds padding and checks again.
  // Remembered by type: a struct that holds two of another one, many times over, has few types but
  // exponentially many paths.
  uint64_t SizeOf(ir::TypeId id, FlatMap<uint32_t, uint64_t>& known) {
    const ir::Type& type = pool_[id];
    if (type.kind == ir::TypeKind::kVector || type.kind == ir::TypeKind::kMatrix) {
      const uint32_t bytes = std::max(ir::BitWidthOf(type.scalar), 16u) / 8;
      return uint64_t{type.scalar == ir::Scalar::kBool ? 4 : bytes} * type.rows * type.columns;
    }
    if (type.kind == ir::TypeKind::kArray) {
      const uint64_t item = SizeOf(ir::TypeId{type.element}, known);
      return std::min(kSizeLimit, item * type.extent);
    }
    if (type.kind != ir::TypeKind::kStruct) {
      return 0;
    }
    if (const uint64_t* size = known.Find(id.value)) {
      return *size;
    }
    uint64_t size = 0;
    for (const ir::ShapeMember& member : pool_.Members(id)) {
      size = std::min(kSizeLimit, size + SizeOf(member.type, known));
    }
    known.Insert(id.value, size);
    return size;
  }

  bool CheckSize(ir::TypeId type) {
    // Types without sizes of their own were checked where they were declared.
    uint64_t size = sizes_.empty() ? 0 : 1;
    // First the sizes alone: an array without bytes in its items must be bounded as well.
    for (const uint32_t count : counts_) {
      size = std::min(kSizeLimit, size * std::max(count, 1u));
    }
    if (size > 0) {
      FlatMap<uint32_t, uint64_t> known;
      ir::TypeId leaf = type;
      for (size_t i = 0; i < sizes_.size(); ++i) {
        leaf = ir::TypeId{pool_[leaf].element};
      }
      size = std::min(kSizeLimit, size * SizeOf(leaf, known));
    }
    if (size >= kSizeLimit) {
      Report(Code::kRpl4003).arguments = {{"name", written_.owner}};
      return false;
    }
    return true;
  }

  const WrittenType& written_;
  VariantEvaluator& answers_;
  const Program& program_;
  const ir::ModuleView& view_;
  ir::Pool& pool_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<const ir::Type*> sizes_;  // array rows, outermost first
  std::vector<uint32_t> counts_;
};

}  // namespace

// An array of floats counts as one of floats.
bool IsFloatType(const ir::Pool& pool, ir::TypeId type) {
  while (pool[type].kind == ir::TypeKind::kArray) {
    type = ir::TypeId{pool[type].element};
  }
  const ir::Type& item = pool[type];
  return (item.kind == ir::TypeKind::kVector || item.kind == ir::TypeKind::kMatrix) &&
         (item.scalar == ir::Scalar::kF32 || item.scalar == ir::Scalar::kF16);
}

bool HasRuntimeArray(const ir::Pool& pool, ir::TypeId type) {
  // Structs nest at their end only where a runtime array may be, so the walk is a single path.
  while (pool[type].kind == ir::TypeKind::kStruct && !pool.Members(type).empty()) {
    type = pool.Members(type).back().type;  // it can only be at the end
  }
  return pool[type].kind == ir::TypeKind::kRuntimeArray;
}

// Most written types are vectors of the language, for which there is nothing to check.
ir::TypeId SpecialiseType(const WrittenType& written, VariantEvaluator& answers,
                          std::vector<Diagnostic>& diagnostics) {
  const ir::Type& row = answers.program().module(written.module).types[written.type.value];
  if (row.kind == ir::TypeKind::kVector) {
    if (written.use != TypeUse::kImageExtent) {
      return answers.pool().Vector(row.scalar, row.rows);
    }
  }
  return TypeSpecialiser(written, answers, diagnostics).Run();
}

}  // namespace kiln::resolve
