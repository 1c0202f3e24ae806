// SPDX-License-Identifier: MIT
// Programs of a batch with one entry share their results, so a signature that one of them built is
// found by the others.
#include "server/compile/rows/signature_groups.h"

#include <algorithm>

namespace kiln::compile {

SignatureGroup::Member SignatureGroup::FindOrAdd(const Hash128& signature, const Place& next) {
  const auto [place, is_new] = places_.Insert(signature, next);
  return {.place = *place, .is_new = is_new};
}

// One row for each program, with a group for each of its entries in their order.
std::vector<std::vector<SignatureGroupPtr>> SignatureGroupsOf(
    std::span<const std::vector<Hash128>> entries) {
  FlatMap<Hash128, SignatureGroupPtr> by_entry;
  std::vector<std::vector<SignatureGroupPtr>> groups;
  groups.reserve(entries.size());
  for (const std::vector<Hash128>& of_program : entries) {
    std::vector<SignatureGroupPtr>& of = groups.emplace_back();
    for (const Hash128& entry : of_program) {
      SignatureGroupPtr& group = by_entry[entry];
      if (group == nullptr) {
        group = std::make_shared<SignatureGroup>();
      }
      if (std::ranges::find(of, group) == of.end()) {  // targets may differ in recipes alone
        group->AddProgram();
      }
      of.push_back(group);
    }
  }
  return groups;
}

}  // namespace kiln::compile
