// SPDX-License-Identifier: MIT
#include "compiler/emit/metadata/option_influence.h"

#include <array>
#include <bit>
#include <charconv>
#include <string>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/emit/metadata/fields.h"
#include "compiler/ir/enum_names.h"

namespace kiln::metadata {
namespace {

// A decimal that reads back as the same float, without exponent, with a dot.
std::string FloatText(float value) {
  std::array<char, 64> buffer;
  // 64 characters hold the longest float that is written without exponent.
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  KILN_CHECK(error == std::errc{});
  std::string text(buffer.data(), end);
  // Without a dot the text would read as an integer.
  if (text.find('.') == std::string::npos) {
    text += ".0";
  }
  return text;
}

std::string ValueText(const ir::Pool& pool, const ir::OptionUse& use) {
  switch (use.kind) {
    case ir::OptionKind::kFlag:
      return use.value != 0 ? "true" : "false";
    case ir::OptionKind::kUint:
      // The spellings are those of RPL, so a value can be copied into a source.
      return fmt::format("{}u", use.value);
    case ir::OptionKind::kSint:
      return fmt::format("{}", std::bit_cast<int32_t>(use.value));
    case ir::OptionKind::kFloat:
      return FloatText(std::bit_cast<float>(use.value));
    case ir::OptionKind::kEnum:
      return std::string(pool.Text(use.text));
  }
  KILN_UNREACHABLE();
}

}  // namespace

// What an option decided, by the bits that specialising collected. The order is that of the
// enumeration.
void WriteInfluence(const ir::Pool& pool, const ir::OptionUse& use, WireWriter& out) {
  out.Text(kOptionInfluenceName, pool.Text(use.name));
  out.Text(kOptionInfluenceClass, ir::NameOf(use.scope));
  out.Text(kOptionInfluenceValue, ValueText(pool, use));
  // A list of words and not a number: readers of older versions can show words that they do not
  // know.
  for (uint32_t bit = 0; bit < ir::CountOf<ir::Influence>(); ++bit) {
    if ((use.influence >> bit & 1U) != 0) {
      out.TextItem(kOptionInfluenceAffects, ir::kNames<ir::Influence>[bit]);
    }
  }
}

}  // namespace kiln::metadata
