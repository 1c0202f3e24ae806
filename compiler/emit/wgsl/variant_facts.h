// SPDX-License-Identifier: MIT
// What the functions of a variant decide together: which samplers compare, which memory is atomic,
// who may discard, who takes the values that are handed on, and where control is not known to be
// uniform. See spec/wgsl 2.2, 2.7, 3.9, 3.12.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/emit/wgsl/lower.h"
#include "compiler/emit/wgsl/object_table.h"
#include "compiler/ir/specialised.h"

namespace kiln::wgsl {

enum class SamplerUse : uint8_t { kNone, kFilters, kCompares, kBoth };

struct LiveFunction {
  const ir::FunctionRef* ref = nullptr;
  const FunctionFacts* facts = nullptr;
  std::vector<uint32_t> callees{};     // of the same entry, in order of the text, each once
  std::vector<SamplerUse> samplers{};  // by parameter
  uint32_t handed_on = 0;              // stage variables that it takes as parameters, bits
  bool discards = false;               // it, or who it calls
  Flow flow = Flow::kUniform;          // at its calls
};

struct LiveEntry {
  const ir::EntryRef* ref = nullptr;
  std::vector<LiveFunction> functions{};  // callees first; the last one is the entry point
  bool asks_for_discard = false;          // some loop asks whether a callee has discarded
  // The first operation that needs uniform control flow and is not seen to have it.
  std::optional<FunctionFacts::Collective> unproven{};

  // Requires: it calls, or is called by, a function of the entry.
  const LiveFunction& Of(ir::DeclId function) const;
};

struct SamplerFact {
  ir::DeclId decl{};
  SamplerUse use = SamplerUse::kNone;
  Location compares{};  // where, if it does
};

struct VariantFacts {
  std::vector<LiveEntry> entries{};     // of the variant
  std::vector<AtomicDecl> atomics{};    // in order of the interface
  std::vector<SamplerFact> samplers{};  // the same

  SamplerUse UseOf(ir::DeclId sampler) const;
};

// Requires: the variant was prepared.
VariantFacts FactsOf(const ir::SpecialisedProgram& variant, ObjectTable& table);

}  // namespace kiln::wgsl
