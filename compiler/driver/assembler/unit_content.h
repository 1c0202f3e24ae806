// SPDX-License-Identifier: MIT
// Specialised units by content: two that have the same content id are lowered to the same words.
// Ids of declarations and of one pool are part of it, numbers of locals and regions are those of
// their function, spans and numbers that layout decides are left out.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/driver/assembler/function_numbers.h"
#include "compiler/ir/specialised.h"
#include "compiler/layout/layout.h"

namespace kiln::driver {

class UnitContent {
 public:
  // `numbers` must outlive the object.
  explicit UnitContent(const FunctionNumbers& numbers) : numbers_(numbers) {}

  Hash128 Of(const ir::SpecialisedRegion& region);
  // `regions`: content of the regions of the function.
  Hash128 Of(const ir::FunctionRef& function, std::span<const Hash128> regions);
  // With the numbers that `layout` gives the declarations.
  Hash128 Of(std::span<const ir::SpecialisedDecl* const> interface, const layout::Layout& layout,
             const std::array<uint32_t, 3>& workgroup_size);

 private:
  void Put(uint32_t word) { words_.push_back(word); }
  void Put(const Hash128& hash);
  template <class Row>
  void PutAll(std::span<const Row> rows);
  void Put(const ir::Inst& inst);
  void Put(const ir::SpecialisedDecl& decl);
  void Put(std::span<const ir::Attribute> attributes);
  uint32_t Local(ir::LocalId local) const { return Numbered(numbers_.locals, local.value); }
  uint32_t Region(ir::RegionId id) const { return Numbered(numbers_.regions, id.value); }
  static uint32_t Numbered(const FunctionNumbering& numbering, uint32_t number);
  Hash128 Finish();

  const FunctionNumbers& numbers_;
  std::vector<uint32_t> words_;  // memory is kept
};

}  // namespace kiln::driver
