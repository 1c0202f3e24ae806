// SPDX-License-Identifier: MIT
#include "compiler/driver/reads.h"

#include <algorithm>
#include <string>
#include <utility>

namespace kiln::driver {

std::vector<OptionRead> ReadsOf(const resolve::Program& program,
                                const resolve::OptionValues& values, const Bitset& reads) {
  std::vector<OptionRead> result;
  result.reserve(reads.Count());
  reads.ForEach([&](size_t number) {
    const ir::OptionId id{static_cast<uint32_t>(number)};
    const uint32_t ordinal = program.ModuleOf(id);
    const ir::ModuleView& module = program.module(ordinal);
    const ir::Option& option = program.Get(id);
    OptionRead read{.name = std::string(module.Text(option.name)),
                    .module = ordinal,
                    // Numbers of options in a module, which stay when other modules come or go.
                    .option = id.value - program.bases(ordinal).option,
                    .kind = option.kind,
                    .bits = values.bits[number],
                    .text = {}};
    if (option.kind == ir::OptionKind::kEnum) {
      read.text = module.Text(ir::StringId{module.List(option.values)[read.bits]});
    }
    result.push_back(std::move(read));
  });
  // By name, since option numbers depend on the link; the record of a result is the same for every
  // program that reads the same options.
  std::sort(result.begin(), result.end(),
            [](const OptionRead& a, const OptionRead& b) { return a.name < b.name; });
  return result;
}

}  // namespace kiln::driver
