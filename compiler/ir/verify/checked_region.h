// SPDX-License-Identifier: MIT
// A specialised region while it is checked: its rows, what is known around it, the loops that are
// open, and the first thing that does not hold. The walk (verify_specialised.h) and the rules of
// instructions (verify_inst.h) share it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/result.h"
#include "compiler/ir/specialised.h"

namespace kiln::ir {

// What is known around a region when a whole variant is checked.
struct Surroundings {
  FlatMap<uint32_t, const SpecialisedLocal*> locals;  // of enclosing regions
  FlatMap<uint32_t, const SpecialisedDecl*> decls;    // interface and signatures
  const SpecialisedDecl* signature = nullptr;         // of the function
  const EntryRef* entry = nullptr;                    // if the function is its entry point
  std::optional<Stage> stage;                         // that reaches the function
};

class CheckedRegion {
 public:
  // Everything given must outlive it; `known` may be null.
  CheckedRegion(const SpecialisedRegion& of, const Pool& types, const Surroundings* known)
      : rows(of), pool(types), surroundings(known) {}

  // The first thing that does not hold is the error. Returns `holds`.
  bool Check(bool holds, std::string_view what);
  bool ok() const { return !error_; }
  // Errors: kInternal, what Check found first.
  Result<void> Finish();

  // Requires, here and below: the ids have been checked.
  bool IsValue(InstId id) const;
  bool IsPlace(InstId id) const;
  TypeId TypeOf(InstId id) const { return rows.insts[id.value].type; }
  bool IsBoolValue(InstId id) const;
  bool YieldsType(BlockId block, TypeId type) const;
  std::optional<uint32_t> ConstantIndex(InstId id) const;
  const SpecialisedLocal* FindLocal(LocalId id) const;  // null if unknown
  bool Mentions(DeclId decl, MemberId member) const;
  // As ir::HasValues; each type is looked into once for all rows.
  bool HasValues(TypeId type);

  const SpecialisedRegion& rows;
  const Pool& pool;
  const Surroundings* surroundings;
  FlatMap<uint32_t, const SpecialisedLocal*> locals;  // own
  std::vector<LocalId> open_loops;                    // and switches
  size_t jump_limit = 0;        // those of open_loops before it are out of reach
  uint32_t in_continuing = 0;   // continuing blocks around
  size_t insertion_points = 0;  // met so far
  uint32_t current = kNoRow;    // inst, for messages

 private:
  std::optional<Error> error_;
  FlatMap<uint32_t, bool> has_values_;  // of TypeId, of what is no vector
};

}  // namespace kiln::ir
