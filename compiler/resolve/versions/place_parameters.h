// SPDX-License-Identifier: MIT
// Parameters of typed modules that stand for one thing outside of the function: a resource, an item
// of an array of them, a part of memory that a buffer, the workgroup or the module has. A function
// has a version for each list of things that its calls name, so nothing behind specialising sees
// such a parameter. See docs/IR.md, "Place parameters".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/specialised.h"

namespace kiln::resolve {

// What a parameter stands for: a declaration, and the constant steps from it.
struct PlaceRoot {
  ir::DeclId decl{};
  std::vector<uint32_t> steps{};
};

// A list of roots as the words of a version, and back. A version of no roots is an entry version.
void AddRoot(const PlaceRoot& root, std::vector<uint32_t>& words);
std::vector<PlaceRoot> RootsOf(std::span<const uint32_t> words);

// The signature of a version: without the parameters that it has decided.
ir::SpecialisedDecl SignatureOfVersion(const ir::SpecialisedDecl& declared, ir::DeclId version);

// Whether two signatures of one version are the same.
bool AreSame(const ir::SpecialisedDecl& a, const ir::SpecialisedDecl& b);

}  // namespace kiln::resolve
