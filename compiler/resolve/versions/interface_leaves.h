// SPDX-License-Identifier: MIT
// The signature of an entry point -> its leaves, each with what its own attributes and those of its
// holders say together. It knows no stage. See docs/IR.md, "Entry points".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/resolve/values/variant_evaluator.h"
#include "compiler/resolve/versions/entry_interface.h"

namespace kiln::resolve {

struct SemanticName {
  ir::StringId text{};  // of the Pool, as it was written
  uint32_t index = 0;
};

struct Leaf {
  InterfaceLeaf place;
  std::string path;      // "input.uv"; "result"
  ir::StringId field{};  // its last name; invalid for a bare result
  bool in = false;
  bool out = false;
  ir::StringId builtin{};
  std::optional<SemanticName> semantic;
  std::optional<uint32_t> location;
  std::optional<uint32_t> index;
  std::optional<ir::Interpolation> interpolation;
  // Of vertex inputs:
  ir::StringId source{};
  ir::Rate rate = ir::Rate::kVertex;
  ir::PackClass pack = ir::PackClass::kDefault;
  uint8_t pack_bits = 0;
  std::vector<ir::StringId> tags;
  ir::Origin origin;
  Location where;
};

// What a semantic is called in messages: "TEXCOORD2", "SV_Position".
std::string SemanticText(const ir::Pool& pool, const SemanticName& semantic);
// Locations that a vector, matrix or array of those takes.
uint32_t LocationsOf(const ir::Pool& pool, ir::TypeId type);

// In order: parameters, then the result. Nothing if something is wrong.
// Diagnostics: HLSL5005, HLSL5009, LIM1001, RPL9001.
std::optional<std::vector<Leaf>> LeavesOf(const ir::SpecialisedDecl& signature,
                                          VariantEvaluator& answers,
                                          std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
