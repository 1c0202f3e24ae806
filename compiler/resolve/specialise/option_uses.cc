// SPDX-License-Identifier: MIT
#include "compiler/resolve/specialise/option_uses.h"

#include <algorithm>

namespace kiln::resolve {
namespace {

// What an option that chose a module may have decided: it is not told apart.
constexpr uint8_t kAnything = static_cast<uint8_t>(ir::Influence::kLayout) |
                              static_cast<uint8_t>(ir::Influence::kSettings) |
                              static_cast<uint8_t>(ir::Influence::kCode);

// All that does not change with the value, unless the option is an enum.
void Describe(const Program& program, VariantEvaluator& answers, ir::OptionId id,
              SpecialiserCache::ListedOption& listed) {
  const ir::Option& option = program.Get(id);
  const Value value = answers.Option(id);
  const bool is_enum = value.kind == ir::ValueKind::kString;
  listed.is_enum = is_enum;
  listed.specialised = option.specialize != 0;
  listed.use = {.name = answers.PoolText(program.NameOf(id)),
                .scope = option.scope,
                .kind = option.kind,
                .text = is_enum ? ir::StringId{value.bits} : ir::StringId{}};
}

uint8_t InfluenceOf(const Program& program, const SpecialiserCache& memory, ir::OptionId id) {
  if (memory.options[id.value].specialised) {
    return static_cast<uint8_t>(ir::Influence::kSpecialization);
  }
  if (std::ranges::binary_search(program.choices(), id.value, {}, &ir::OptionId::value)) {
    return kAnything;
  }
  const auto bit = [&](const Bitset& reads, ir::Influence influence) {
    return reads.Test(id.value) ? static_cast<uint8_t>(influence) : uint8_t{0};
  };
  uint8_t influence = bit(memory.layout_reads, ir::Influence::kLayout);
  influence |= bit(memory.settings_reads, ir::Influence::kSettings);
  influence |= bit(memory.code_reads, ir::Influence::kCode);
  return influence == 0 ? static_cast<uint8_t>(ir::Influence::kCheck) : influence;
}

}  // namespace

void ListOptionUses(const Program& program, VariantEvaluator& answers, SpecialiserCache& memory,
                    ir::SpecialisedProgram& out) {
  for (const ir::OptionId id : program.options_by_name()) {
    if (!out.live_options.Test(id.value)) {
      continue;
    }
    SpecialiserCache::ListedOption& listed = memory.options[id.value];
    const uint32_t bits = answers.EnumIndex(id);
    // Texts of enum values change with the value; the rest of the row is the same in all variants.
    if (!listed.known || (listed.is_enum && listed.bits != bits)) {
      Describe(program, answers, id, listed);
      listed.known = true;
    }
    listed.bits = bits;
    listed.use.value = bits;
    out.option_uses.emplace_back(listed.use).influence = InfluenceOf(program, memory, id);
  }
}

}  // namespace kiln::resolve
