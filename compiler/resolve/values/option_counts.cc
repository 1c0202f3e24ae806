// SPDX-License-Identifier: MIT
#include "compiler/resolve/values/option_counts.h"

#include <optional>
#include <string>

namespace kiln::resolve {

std::vector<Diagnostic> CheckOptionCounts(std::span<const ir::ModuleView> modules,
                                          const LanguageLimits& limits) {
  std::vector<Diagnostic> found;
  size_t count = 0;
  std::optional<Location> beyond;  // the first that is too many
  for (uint32_t m = 0; m < modules.size(); ++m) {
    const ir::ModuleView& view = modules[m];
    const auto at = [&](const ir::Option& option) {
      return Location{
          .module = m, .span_number = option.span.value, .bytes = view.SpanOf(option.span)};
    };
    // The options of all modules count together, and the message stands at the first one that is
    // too many, in the order of modules.
    if (!beyond.has_value() && count + view.options.size() > limits.options) {
      beyond = at(view.options[limits.options - count]);
    }
    count += view.options.size();
    for (const ir::Option& option : view.options) {
      const bool is_enum = option.kind == ir::OptionKind::kEnum;
      // Values are counted for each option by itself.
      if (is_enum && view.List(option.values).size() > limits.enum_values) {
        found.push_back(Make(Code::kLim1001, at(option))
                            .With("what", "option '" + std::string(view.Text(option.name)) + "'")
                            .With("parts", "values")
                            .With("limit", limits.enum_values));
      }
    }
  }
  if (beyond.has_value()) {
    found.push_back(
        Make(Code::kRpl2010, *beyond).With("limit", limits.options).With("count", count));
  }
  return found;
}

}  // namespace kiln::resolve
