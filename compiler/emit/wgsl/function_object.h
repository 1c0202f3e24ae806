// SPDX-License-Identifier: MIT
// The text of one version of a function, put together from the objects of its live regions. What is
// left open is what other functions or the module decide. See spec/wgsl 3.2.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/emit/wgsl/region_facts.h"
#include "compiler/emit/wgsl/text_object.h"

namespace kiln::wgsl {

// What the regions of a function say together. Roots that are parameters are positions in its head.
struct FunctionFacts {
  struct SamplerUse {
    ir::DeclId decl{};       // invalid: it is a parameter
    uint32_t parameter = 0;  // its position
    bool compares = false;
    Location where{};
  };
  struct SamplerFlow {
    ir::DeclId callee{};
    uint32_t argument = 0;
    ir::DeclId decl{};
    uint32_t parameter = 0;
  };
  struct Collective {
    ir::Builtin builtin{};
    Location where{};
    Flow flow = Flow::kUniform;
  };
  std::vector<RegionFacts::AtomicUse> atomics;
  std::vector<SamplerUse> samplers;
  std::vector<SamplerFlow> flows;
  std::vector<RegionFacts::Call> calls;  // in order of the text
  std::vector<Collective> collectives;
  std::vector<ir::DeclId> mentions;  // declarations in memory
  uint32_t stage_variables = 0;
  bool discards = false;
};

// `regions` are parallel to the regions of the function.
FunctionFacts FactsOf(const ir::FunctionRef& function, std::span<const RegionFacts* const> regions);

struct FunctionObject {
  MarkedText body;  // lines, without head and closing brace
  Needs needs;
  std::vector<Diagnostic> findings;
  bool ends = false;
  std::vector<LocalName> names;  // of the body
  std::vector<std::string> io;   // of an entry point of a typed module, as TextObject has it
};

// The zero value of a type that has one.
std::string ZeroText(ir::TypeId type, Types& types);

// `objects` are parallel to the regions of the function, `regions` what was found about them.
FunctionObject MakeFunction(const ir::FunctionRef& function,
                            std::span<const TextObject* const> objects,
                            std::span<const RegionFacts* const> regions, Types& types);

}  // namespace kiln::wgsl
