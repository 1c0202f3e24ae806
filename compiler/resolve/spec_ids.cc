// SPDX-License-Identifier: MIT
#include "compiler/resolve/spec_ids.h"

#include <map>
#include <string>

namespace kiln::resolve {

// What the source gives comes first, then the lowest that is free, in the order of the options.
// Vulkan would set two constants of one id together, which nobody means.
std::vector<uint32_t> AssignSpecIds(const Program& program, std::vector<Diagnostic>& diagnostics) {
  std::vector<uint32_t> ids(program.option_count());
  std::map<uint32_t, ir::OptionId> owners;
  const auto options = [&](bool written, auto visit) {
    for (uint32_t i = 0; i < program.option_count(); ++i) {
      const ir::Option& option = program.Get(ir::OptionId{i});
      if (option.specialize != 0 && (option.id_plus_one != 0) == written) {
        visit(ir::OptionId{i}, option);
      }
    }
  };
  options(true, [&](ir::OptionId id, const ir::Option& option) {
    const uint32_t number = option.id_plus_one - 1;
    ids[id.value] = number;
    const auto [owner, is_new] = owners.try_emplace(number, id);
    if (!is_new) {
      diagnostics.push_back(Make(Code::kLay2001, program.NameLocation(id))
                                .With("name", program.Text(program.NameOf(id)))
                                .With("other", program.Text(program.NameOf(owner->second)))
                                .With("place", "spec " + std::to_string(number))
                                .Label(LabelKind::kFirstHere, program.NameLocation(owner->second)));
    }
  });
  uint32_t next = 0;
  options(false, [&](ir::OptionId id, const ir::Option&) {
    while (owners.contains(next)) {
      ++next;
    }
    ids[id.value] = next++;
  });
  return ids;
}

}  // namespace kiln::resolve
