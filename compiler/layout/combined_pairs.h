// SPDX-License-Identifier: MIT
// Textures and samplers that share a number. See spec/hlsl 16.3
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/specialised.h"
#include "compiler/layout/program.h"

namespace kiln::layout {

// A texture and a sampler on one number are one combined image sampler, which is what Vulkan
// programs mean by t1 and s1 without shifts; both variables may name it. Only such a pair of equal
// counts shares a number: a third on it, a buffer or a written image is an overlap.
class CombinedPairs {
 public:
  // `parameter` describes `decl`. Requires: not a push constant.
  void Add(const ir::SpecialisedDecl& decl, Parameter& parameter, const ir::Pool& pool);
  // Lets both of each pair share. Requires: no parameter was moved since it was added.
  void Mark();

 private:
  enum class Kind : uint8_t { kTexture, kSampler, kOther };
  struct Member {
    uint64_t slot;
    Kind kind;
    uint64_t items;
    Parameter* parameter;
  };
  std::vector<Member> members_;
};

}  // namespace kiln::layout
