// SPDX-License-Identifier: MIT
// What the reached code of a variant touches: the join of mentions of live regions. Part of
// metadata only, never of a layout. See spec/layout 14.4; spec/rpl 12.1; spec/pso 3.2.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/specialised.h"

namespace kiln::metadata {

struct Usage {
  // By DeclId: one bit for each ir::Stage whose reached functions mention the declaration.
  std::vector<uint8_t> stages;
  // By DeclId: samplers that a reached function uses in a depth comparison, also as an argument.
  std::vector<bool> compared;
  // By MemberId: ir::Touch bits, over all entry points.
  std::vector<uint8_t> touches;

  bool Mentioned(ir::DeclId decl, ir::Stage stage) const {
    return decl.value < stages.size() &&
           (stages[decl.value] >> static_cast<uint32_t>(stage) & 1) != 0;
  }
  bool Compared(ir::DeclId sampler) const {
    return sampler.value < compared.size() && compared[sampler.value];
  }
  bool Touched(ir::MemberId member, ir::MemberUse touch) const {
    return member.value < touches.size() &&
           (touches[member.value] & static_cast<uint8_t>(touch)) != 0;
  }
};

Usage UsageOf(const ir::SpecialisedProgram& variant);
// The same into memory that is used again.
void UsageOf(const ir::SpecialisedProgram& variant, Usage& usage);

}  // namespace kiln::metadata
