// SPDX-License-Identifier: MIT
// What one region says about the function, and the variant, that it is part of: which memory is
// atomic, which samplers compare, who is called and who may discard. Found before any text is made,
// because some of it decides text. See spec/wgsl 3.1.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/emit/wgsl/types.h"
#include "compiler/ir/specialised.h"

namespace kiln::wgsl {

// A sampler of the program, or a parameter of the function.
struct SamplerRoot {
  ir::DeclId decl{};
  ir::LocalId parameter{};
  friend bool operator==(const SamplerRoot&, const SamplerRoot&) = default;
};

// Where control may not be the same for all invocations, as far as structure tells.
enum class Flow : uint8_t { kUniform, kUnknown };

struct RegionFacts {
  struct AtomicUse {
    ir::DeclId decl{};
    uint32_t leaf = 0;
    friend bool operator==(const AtomicUse&, const AtomicUse&) = default;
  };
  struct SamplerUse {
    SamplerRoot root;
    bool compares = false;
    ir::SpanId span{};
  };
  // A sampler that is handed to a callee.
  struct SamplerFlow {
    ir::DeclId callee{};
    uint32_t argument = 0;
    SamplerRoot root;
  };
  struct Call {
    ir::DeclId callee{};
    bool in_loop = false;
    Flow flow = Flow::kUniform;
  };
  struct InsertionPoint {
    ir::RegionId region{};
    bool in_loop = false;
    Flow flow = Flow::kUniform;
  };
  // An operation that needs uniform control flow. Images of typed modules count as what they are
  // in RPL.
  struct Collective {
    ir::Builtin builtin{};
    ir::SpanId span{};
    Flow flow = Flow::kUniform;
  };
  std::vector<AtomicUse> atomics;
  std::vector<SamplerUse> samplers;
  std::vector<SamplerFlow> flows;
  std::vector<Call> calls;
  std::vector<InsertionPoint> insertion_points;
  std::vector<Collective> collectives;
  bool discards = false;
  bool leaves_early = false;  // returns from inside of a branch or loop
};

RegionFacts FactsOf(const ir::SpecialisedRegion& region, Types& types);

}  // namespace kiln::wgsl
