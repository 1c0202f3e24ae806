// SPDX-License-Identifier: MIT
#include "compiler/resolve/versions/entry_interface.h"

#include <utility>

#include "compiler/base/threads/stop.h"

namespace kiln::resolve {

// The hash takes the numbers that differ where anything differs, nearly always; the comparison
// takes all.
const EntryInterface* EntryInterfaces::Intern(EntryInterface made) {
  // Equal interfaces must be one object: code and layouts are looked up by its number.
  uint64_t hash = Mix64(uint64_t{made.rows.size()} << 32 | made.leaves.size());
  for (const ir::InterfaceRow& row : made.rows) {
    hash = Mix64(hash ^ (uint64_t{row.name.value} << 32 | row.type.value));
    for (const ir::Attribute& attribute : row.attributes) {
      hash = Mix64(hash ^ (uint64_t{static_cast<uint32_t>(attribute.key)} << 32 | attribute.a));
    }
  }
  const uint32_t row = index_.FindOrAdd(
      hash,
      [&](uint32_t i) {
        return all_[i].rows == made.rows && all_[i].leaves == made.leaves &&
               all_[i].unwritten == made.unwritten;
      },
      [&] {
        ChargeMemory(made.rows.size() * sizeof(ir::InterfaceRow) +
                     made.leaves.size() * sizeof(InterfaceLeaf));
        // Number zero says that an entry point has no rows.
        made.number = static_cast<uint32_t>(all_.size() + 1);
        all_.push_back(std::move(made));
        return static_cast<uint32_t>(all_.size() - 1);
      });
  return &all_[row];
}

}  // namespace kiln::resolve
