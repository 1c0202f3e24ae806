// SPDX-License-Identifier: MIT
// What the functions of one entry point need at module scope, together.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/emit/wgsl/object_table.h"
#include "compiler/emit/wgsl/variant_facts.h"

namespace kiln::wgsl {

struct ModuleNeeds {
  struct Elements {
    ir::DeclId decl{};
    std::vector<uint32_t> elements;  // of an array of images, ascending; of others just 0
  };
  std::vector<Elements> resources;            // in order of first mention
  std::vector<ir::MemberId> inputs, outputs;  // fields of containers
  std::vector<ir::TypeId> structs;            // each before those that hold it
  std::vector<SpecialBits> specials;
  std::vector<ir::ConstId> tables;
  HelperBits helpers = 0;
  uint32_t stage_variables = 0;
  bool half = false;

  bool Uses(ir::MemberId field, ir::Direction direction) const;
  const Elements* Find(ir::DeclId resource) const;  // null: not used
};

// Adds the functions of an entry point.
void AddNeeds(const LiveEntry& entry, std::span<const AtomicDecl> atomics, ObjectTable& table,
              ModuleNeeds& needs);

}  // namespace kiln::wgsl
