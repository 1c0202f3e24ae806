// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/code_object_writer.h"

#include <cstring>

#include "compiler/base/check.h"

namespace kiln::spirv {

void Words::Clear() {
  words.clear();
  own.clear();
  imports.clear();
}

Instruction& Instruction::Text(std::string_view text) {
  const size_t first = out_.words.size();
  out_.words.resize(first + text.size() / 4 + 1, 0);
  std::memcpy(out_.words.data() + first, text.data(), text.size());
  return *this;
}

Ref CodeObjectWriter::Reserve(SymbolId symbol) {
  KILN_CHECK(reserved.size() == own_ids, "reserved names come first");
  reserved.push_back(symbol);
  return NewId();
}

void CodeObjectWriter::AddSlot(LayoutRelocationKind kind, uint32_t row) {
  slots.push_back({static_cast<uint32_t>(part(Part::kAnnotations).words.size()), kind, row});
}

void CodeObjectWriter::AddHole(ir::RegionId segment) {
  const Words& code = part(Part::kCode);
  holes.push_back({.segment = segment,
                   .word_end = static_cast<uint32_t>(code.words.size()),
                   .import_end = static_cast<uint32_t>(code.imports.size())});
}

Words& CodeObjectWriter::WhenNonUniform(SymbolId parameter) {
  for (ConditionalWords& known : conditionals) {
    if (known.parameter == parameter) {
      return known.words;
    }
  }
  return conditionals.emplace_back(ConditionalWords{parameter, {}}).words;
}

void CodeObjectWriter::Clear() {
  for (Words& words : parts) {
    words.Clear();
  }
  own_ids = 0;
  needs = 0;
  end = End::kFlows;
  reserved.clear();
  slots.clear();
  holes.clear();
  flows.clear();
  conditionals.clear();
}

}  // namespace kiln::spirv
