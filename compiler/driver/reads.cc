// SPDX-License-Identifier: MIT
#include "compiler/driver/reads.h"

#include <string>
#include <utility>

namespace kiln::driver {

std::vector<OptionRead> ReadsOf(const resolve::Program& program,
                                const resolve::OptionValues& values, const Bitset& reads) {
  std::vector<OptionRead> result;
  result.reserve(reads.Count());
  // By name, since option numbers depend on the link; the record of a result is the same for every
  // program that reads the same options. The program has that order, so nothing is sorted here.
  for (const ir::OptionId id : program.options_by_name()) {
    if (!reads.Test(id.value)) {
      continue;
    }
    const uint32_t ordinal = program.ModuleOf(id);
    const ir::ModuleView& module = program.module(ordinal);
    const ir::Option& option = program.Get(id);
    OptionRead read{.name = std::string(module.Text(option.name)),
                    .module = ordinal,
                    // Numbers of options in a module, which stay when other modules come or go.
                    .option = id.value - program.bases(ordinal).option,
                    .kind = option.kind,
                    .bits = values.bits[id.value],
                    .text = {}};
    if (option.kind == ir::OptionKind::kEnum) {
      read.text = module.Text(ir::StringId{module.List(option.values)[read.bits]});
    }
    result.push_back(std::move(read));
  }
  return result;
}

}  // namespace kiln::driver
