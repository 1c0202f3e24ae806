// SPDX-License-Identifier: MIT
#include "compiler/ir/verify/checked_region.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "compiler/ir/typing/typing.h"

namespace kiln::ir {

// Only the first fault is kept: those behind it are mostly its consequences. The instruction is
// named by its number, since a region that does not verify may not be printable.
bool CheckedRegion::Check(bool holds, std::string_view what) {
  if (!holds && !error_) {
    std::string where;
    if (current < rows.insts.size()) {
      const InstKind kind = rows.insts[current].kind;
      where = fmt::format(", instruction {} ({})", current, FactsOf(kind).mnemonic);
    }
    error_ =
        Error{.code = ErrorCode::kInternal,
              .context = fmt::format("specialised region {}{}: {}", rows.id.value, where, what)};
  }
  return holds;
}

Result<void> CheckedRegion::Finish() {
  if (error_) {
    return *std::move(error_);
  }
  return {};
}

bool CheckedRegion::HasValues(TypeId type) {
  if (pool[type].kind == TypeKind::kVector) {
    return true;
  }
  const bool* known = has_values_.Find(type.value);
  return known != nullptr ? *known
                          : *has_values_.Insert(type.value, ir::HasValues(pool, type)).first;
}

// A call may have a result by its kind and none by its type, namely of a function that returns
// nothing.
bool CheckedRegion::IsValue(InstId id) const {
  const Inst& inst = rows.insts[id.value];
  return FactsOf(inst.kind).result == ResultSchema::kValue &&
         pool[inst.type].kind != TypeKind::kVoid;
}

bool CheckedRegion::IsPlace(InstId id) const {
  return FactsOf(rows.insts[id.value].kind).result == ResultSchema::kPlace;
}

bool CheckedRegion::IsBoolValue(InstId id) const {
  return IsValue(id) && TypeOf(id) == pool.bool_type();
}

bool CheckedRegion::YieldsType(BlockId block, TypeId type) const {
  const YieldInst yield = rows.insts[rows.InstsOf(block).back()].As<YieldInst>();
  return TypeOf(yield.value) == type;
}

// The low word of a constant of any type; callers check the type of the step.
std::optional<uint32_t> CheckedRegion::ConstantIndex(InstId id) const {
  const Inst& inst = rows.insts[id.value];
  return inst.kind == InstKind::kConst ? std::optional(pool[inst.As<ConstInst>().value].a)
                                       : std::nullopt;
}

// A region alone knows only its own locals. What is not found is then no fault, as it may belong to
// a region around.
const SpecialisedLocal* CheckedRegion::FindLocal(LocalId id) const {
  if (const SpecialisedLocal* const* own = locals.Find(id.value)) {
    return *own;
  }
  const SpecialisedLocal* const* outer =
      surroundings != nullptr ? surroundings->locals.Find(id.value) : nullptr;
  return outer != nullptr ? *outer : nullptr;
}

bool CheckedRegion::Mentions(DeclId decl, MemberId member) const {
  return std::ranges::any_of(rows.mentions, [&](const Mention& mention) {
    return mention.decl == decl && mention.member == member;
  });
}

}  // namespace kiln::ir
