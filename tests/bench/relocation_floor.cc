// SPDX-License-Identifier: MIT
#include "tests/bench/relocation_floor.h"

#include <cstdlib>
#include <cstring>

#include <spirv-tools/libspirv.h>

namespace kiln::bench {
namespace {

struct Parse {
  RelocatableModule* module;
  uint32_t position = 5;
};

bool HoldsId(spv_operand_type_t type) {
  return type == SPV_OPERAND_TYPE_ID || type == SPV_OPERAND_TYPE_TYPE_ID ||
         type == SPV_OPERAND_TYPE_RESULT_ID || type == SPV_OPERAND_TYPE_MEMORY_SEMANTICS_ID ||
         type == SPV_OPERAND_TYPE_SCOPE_ID;
}

spv_result_t OnInstruction(void* user, const spv_parsed_instruction_t* instruction) {
  auto* parse = static_cast<Parse*>(user);
  for (uint16_t i = 0; i < instruction->num_operands; ++i) {
    const spv_parsed_operand_t& operand = instruction->operands[i];
    for (uint16_t word = 0; HoldsId(operand.type) && word < operand.num_words; ++word) {
      parse->module->id_positions.push_back(parse->position + operand.offset + word);
    }
  }
  parse->position += instruction->num_words;
  return SPV_SUCCESS;
}

}  // namespace

RelocatableModule FindIds(std::span<const uint32_t> words) {
  RelocatableModule module{.words = {words.begin(), words.end()}, .id_positions = {}};
  Parse parse{.module = &module};
  spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_1);
  const spv_result_t result =
      spvBinaryParse(context, &parse, words.data(), words.size(), nullptr, OnInstruction, nullptr);
  spvContextDestroy(context);
  if (result != SPV_SUCCESS) {
    std::abort();
  }
  return module;
}

size_t CopyAndRenumber(const RelocatableModule& module, std::span<const uint32_t> ids,
                       std::vector<uint32_t>& out) {
  if (out.size() < module.words.size()) {
    out.resize(module.words.size());
  }
  std::memcpy(out.data(), module.words.data(), module.words.size() * sizeof(uint32_t));
  for (const uint32_t position : module.id_positions) {
    out[position] = ids[out[position]];
  }
  return module.words.size();
}

}  // namespace kiln::bench
