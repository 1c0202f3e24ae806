// SPDX-License-Identifier: MIT
#include "compiler/resolve/attribute_format.h"

#include <algorithm>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace kiln::resolve {
namespace {

// One pack class: its spelling, Vulkan's, the items it holds and the widths it comes in.
struct PackRow {
  ir::PackClass pack;
  std::string_view name;
  std::string_view vulkan;
  ir::Scalar scalar;
  bool has_8, has_16, has_32;
};
// The classes and widths of spec/rpl, each of which is one row of formats in Vulkan.
constexpr PackRow kPacks[] = {
    {ir::PackClass::kFloat, "float", "SFLOAT", ir::Scalar::kF32, false, true, true},
    {ir::PackClass::kUnorm, "unorm", "UNORM", ir::Scalar::kF32, true, true, false},
    {ir::PackClass::kSnorm, "snorm", "SNORM", ir::Scalar::kF32, true, true, false},
    {ir::PackClass::kUint, "uint", "UINT", ir::Scalar::kU32, true, true, true},
    {ir::PackClass::kSint, "sint", "SINT", ir::Scalar::kS32, true, true, true},
};

// Linear over five rows.
const PackRow& RowOf(ir::PackClass pack) {
  const auto* row = std::ranges::find(kPacks, pack, &PackRow::pack);
  KILN_CHECK(row != std::end(kPacks), "pack class {}", pack);
  return *row;
}

}  // namespace

// Without a pack class the attribute lies in memory as the shader sees it, in 32 bits.
AttributeFormat FormatOf(ir::PackClass pack, uint8_t bits, ir::Scalar scalar) {
  if (pack != ir::PackClass::kDefault) {
    return {.pack = pack, .bits = bits};
  }
  return {.pack = scalar == ir::Scalar::kU32   ? ir::PackClass::kUint
                  : scalar == ir::Scalar::kS32 ? ir::PackClass::kSint
                                               : ir::PackClass::kFloat,
          .bits = 32};
}

void CheckFormat(const AttributeFormat& format, const ir::Pool& pool, ir::TypeId type,
                 std::string_view name, const Location& where,
                 std::vector<Diagnostic>& diagnostics) {
  const PackRow& row = RowOf(format.pack);
  // Width before type before count: whoever writes a width that does not exist wants to read about
  // it first.
  const bool known_width = (format.bits == 8 && row.has_8) || (format.bits == 16 && row.has_16) ||
                           (format.bits == 32 && row.has_32);
  if (!known_width) {
    diagnostics.push_back(
        Make(Code::kRpl4041, where).With("class", row.name).With("bits", format.bits));
    return;
  }
  if (pool[type].scalar != row.scalar) {
    diagnostics.push_back(Make(Code::kRpl4042, where)
                              .With("pack", fmt::format("{}{}", row.name, format.bits))
                              .With("type", ir::TypeText(pool, type))
                              .With("name", name));
    return;
  }
  // Three small components are no format that devices must have, so this is told even though the
  // type is right.
  if (pool[type].rows == 3 && format.bits < 32) {
    diagnostics.push_back(
        Make(Code::kRpl4044, where)
            .With("format", fmt::format("R{0}G{0}B{0}_{1}", format.bits, row.vulkan))
            .With("name", name));
  }
}

}  // namespace kiln::resolve
