// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/code_object_writer.h"

#include <cstring>

#include "compiler/base/check.h"

namespace kiln::spirv {

void Words::Clear() {
  words.clear();
  own.clear();
  imports.clear();
  is_overlong = false;
}

// A text ends in a zero byte and is padded with zeros to a whole word. A text whose length is a
// multiple of four takes a word of zeros more.
Instruction& Instruction::Text(std::string_view text) {
  const size_t first = out_.words.size();
  out_.words.resize(first + text.size() / 4 + 1, 0);
  std::memcpy(out_.words.data() + first, text.data(), text.size());
  return *this;
}

// Own ids of reserved names are 0, 1, … in the order of `reserved`, so their numbers need not be
// stored. This holds only while nothing else has taken an id.
Ref CodeObjectWriter::Reserve(SymbolId symbol) {
  KILN_CHECK(reserved.size() == own_ids, "reserved names come first");
  reserved.push_back(symbol);
  return NewId();
}

// The position is that of the word that is written next; the caller puts a zero there.
void CodeObjectWriter::AddSlot(LayoutRelocationKind kind, uint32_t row) {
  slots.push_back({static_cast<uint32_t>(part(Part::kAnnotations).words.size()), kind, row});
}

void CodeObjectWriter::AddInsertionPoint(ir::RegionId region, bool reached) {
  const Words& code = part(Part::kCode);
  insertion_points.push_back({.region = region,
                              .word_end = static_cast<uint32_t>(code.words.size()),
                              .import_end = static_cast<uint32_t>(code.imports.size()),
                              .reached = reached});
}

// A code object has very few image parameters, so a search through a list is enough.
Words& CodeObjectWriter::WhenNonUniform(SymbolId parameter) {
  for (ConditionalWords& known : conditionals) {
    if (known.parameter == parameter) {
      return known.words;
    }
  }
  return conditionals.emplace_back(ConditionalWords{parameter, {}}).words;
}

// Keeps the memory: one writer serves thousands of globals.
void CodeObjectWriter::Clear() {
  for (Words& words : parts) {
    words.Clear();
  }
  own_ids = 0;
  needs = 0;
  end = End::kFlows;
  reserved.clear();
  slots.clear();
  insertion_points.clear();
  flows.clear();
  conditionals.clear();
}

}  // namespace kiln::spirv
