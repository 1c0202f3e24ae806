// SPDX-License-Identifier: MIT
// Options are global, since a macro may change anything: resources, blocks, inputs. Their values
// choose the other modules of the program, so no expression here or there mentions them.
#include "compiler/front/hlsl/module/macro_module.h"

#include <vector>

#include "compiler/ir/builder.h"

namespace kiln::hlsl {

ir::Module MacroModule(std::span<const MacroAxis> axes, const Hash128& fingerprint) {
  ir::Builder builder({.language = ir::Language::kHlsl, .version = 2021, .typed = 1, .rules = 0});
  for (const MacroAxis& axis : axes) {
    ir::Option option{.name = builder.Text(axis.name),
                      .scope = ir::OptionScope::kGlobal,
                      .kind = axis.kind,
                      .default_value = BitsOf(axis, 0)};
    if (axis.kind == ir::OptionKind::kEnum) {
      std::vector<ir::StringId> values;
      for (const std::string& value : axis.values) {
        values.push_back(builder.Text(value));
      }
      option.values = builder.Ids(values);
    }
    option.span = builder.AddSpan({0, 0});
    builder.Add(option);
  }
  return builder.Finish(fingerprint);
}

}  // namespace kiln::hlsl
