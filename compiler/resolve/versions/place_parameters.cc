// SPDX-License-Identifier: MIT
#include "compiler/resolve/versions/place_parameters.h"

#include <algorithm>

namespace kiln::resolve {

// A root is its declaration, the number of its steps, and the steps.
void AddRoot(const PlaceRoot& root, std::vector<uint32_t>& words) {
  words.push_back(root.decl.value);
  words.push_back(static_cast<uint32_t>(root.steps.size()));
  words.insert(words.end(), root.steps.begin(), root.steps.end());
}

std::vector<PlaceRoot> RootsOf(std::span<const uint32_t> words) {
  std::vector<PlaceRoot> roots;
  while (!words.empty()) {
    // The number of steps makes the list readable from the front without any mark between roots.
    const std::span<const uint32_t> steps = words.subspan(2, words[1]);
    roots.push_back({.decl = ir::DeclId{words[0]}, .steps = {steps.begin(), steps.end()}});
    words = words.subspan(2 + steps.size());
  }
  return roots;
}

// Place parameters are decided by the version, so the function that is left takes only the others.
ir::SpecialisedDecl SignatureOfVersion(const ir::SpecialisedDecl& declared, ir::DeclId version) {
  ir::SpecialisedDecl signature = declared;
  signature.decl = version;
  std::erase_if(signature.members, [](const ir::SpecialisedMember& parameter) {
    return parameter.access == ir::Access::kPlace;
  });
  return signature;
}

// Only what callers and emitters look at is compared; places in the source may differ.
bool AreSame(const ir::SpecialisedDecl& a, const ir::SpecialisedDecl& b) {
  const auto same = [](const ir::SpecialisedMember& x, const ir::SpecialisedMember& y) {
    return x.name == y.name && x.type == y.type && x.access == y.access && x.local == y.local &&
           x.relaxed == y.relaxed;
  };
  return a.decl == b.decl && a.flags == b.flags && a.type == b.type &&
         std::ranges::equal(a.members, b.members, same);
}

}  // namespace kiln::resolve
