// SPDX-License-Identifier: MIT
// Names are found by binary search in a table that is sorted when kiln is compiled. Sizes are cut
// off first, because 21 scalars have 20 shapes each: "float3x4" is "float" and 3x4.
#include "compiler/front/hlsl/syntax/inbuilt_types.h"

#include <algorithm>
#include <array>

namespace kiln::hlsl::syntax {
namespace {

struct Row {
  std::string_view text;
  InbuiltName name;
  bool is_scalar;
  TypeArguments arguments;
};

constexpr auto kRows = std::to_array<Row>({
#define KILN_HLSL_SCALAR(enumerator, name, item) \
  {name, InbuiltName::k##enumerator, true, TypeArguments::kNone},
#define KILN_HLSL_TYPE(enumerator, name, arguments) \
  {name, InbuiltName::k##enumerator, false, TypeArguments::k##arguments},
#include "compiler/front/hlsl/syntax/types.def"
});

// Sorted when kiln is compiled, so that types.def may be in the order that reads well.
constexpr auto kByText = [] {
  std::array<Row, kRows.size()> sorted = kRows;
  std::ranges::sort(sorted, {}, &Row::text);
  return sorted;
}();

const Row* FindRow(std::string_view text) {
  const auto* row = std::ranges::lower_bound(kByText, text, {}, &Row::text);
  return row != kByText.end() && row->text == text ? row : nullptr;
}

bool IsSize(char c) { return c >= '1' && c <= '4'; }

// Cuts "3" or "3x4" off the end of `text`.
// Nothing is cut if what is left could not be a name: "x4" alone is no shape.
InbuiltType TakeShape(std::string_view& text) {
  InbuiltType shape;
  const size_t size = text.size();
  if (size >= 4 && IsSize(text[size - 1]) && text[size - 2] == 'x' && IsSize(text[size - 3])) {
    shape.rows = static_cast<uint8_t>(text[size - 3] - '0');
    shape.columns = static_cast<uint8_t>(text[size - 1] - '0');
    text.remove_suffix(3);
  } else if (size >= 2 && IsSize(text[size - 1])) {
    shape.rows = static_cast<uint8_t>(text[size - 1] - '0');
    text.remove_suffix(1);
  }
  return shape;
}

const Row& RowOf(InbuiltName name) { return kRows[static_cast<size_t>(name)]; }

}  // namespace

// As it stands first: `int32_t` and `uint64_t` end in no shape, and names that do, like
// `float16_t4`, are found by the second look.
std::optional<InbuiltType> FindInbuiltType(std::string_view text) {
  if (const Row* row = FindRow(text)) {
    return InbuiltType{.name = row->name};
  }
  InbuiltType type = TakeShape(text);
  const Row* row = type.rows == 0 ? nullptr : FindRow(text);
  if (row == nullptr || !row->is_scalar) {
    return std::nullopt;
  }
  type.name = row->name;
  return type;
}

bool IsScalar(InbuiltName name) { return RowOf(name).is_scalar; }
std::string_view InbuiltNameText(InbuiltName name) { return RowOf(name).text; }
TypeArguments InbuiltNameArguments(InbuiltName name) { return RowOf(name).arguments; }

}  // namespace kiln::hlsl::syntax
