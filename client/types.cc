// SPDX-License-Identifier: MIT
// Options as texts. The texts are also keys of maps and are compared, so equal options in equal
// order must always give equal texts.
#include "client/types.h"

#include <type_traits>

#include <fmt/format.h>

namespace kiln::client {

// A float is written with the fewest digits that read back as the same value.
std::string ValueText(const Option& option) {
  return std::visit(
      [](const auto& v) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, uint32_t>) {
          // As RPL writes an unsigned number.
          return fmt::format("{}u", v);
        } else {
          return fmt::format("{}", v);
        }
      },
      option.value);
}

std::string WordOf(const Option& option) {
  return std::holds_alternative<uint32_t>(option.value)
             ? fmt::format("{}", std::get<uint32_t>(option.value))
             : ValueText(option);
}

std::string OptionsText(const std::vector<Option>& options) {
  std::string text;
  for (const Option& option : options) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", option.name, ValueText(option));
  }
  return text;
}

std::string_view StateName(VariantState state) {
  return state == VariantState::kCached   ? "cached"
         : state == VariantState::kFailed ? "failed"
                                          : "unknown";
}

std::string_view ServerStatus::Upstream::State() const {
  return answers ? "answers" : asked ? "fails" : "not asked";
}

}  // namespace kiln::client
