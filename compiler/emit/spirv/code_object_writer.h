// SPDX-License-Identifier: MIT
// Collects the words of one code object while they are written, instruction by instruction:
//   writer.Op(Part::kCode, spv::Op::OpFAdd).Use(type).Use(sum).Use(a).Use(b);
// The instruction ends with the full expression. A writer is reused: Clear keeps its memory.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <spirv/unified1/spirv.hpp11>

#include "compiler/base/check.h"
#include "compiler/base/push.h"
#include "compiler/emit/spirv/code_object.h"

namespace kiln::spirv {

// The words of a part under construction.
struct Words {
  std::vector<uint32_t> words;
  std::vector<uint32_t> own;
  std::vector<SymbolRelocation> imports;
  bool is_overlong = false;  // an instruction has more words than its first one can say
  void Clear();
};

// One instruction under construction; patches its length when it goes out of scope.
class Instruction {
 public:
  Instruction(Words& out, spv::Op op) : out_(out), start_(out.words.size()) {
    Push(out_.words, static_cast<uint32_t>(op));
  }
  ~Instruction() {
    const size_t count = out_.words.size() - start_;
    out_.words[start_] |= static_cast<uint32_t>(count) << 16;
    out_.is_overlong |= count > kMostWords;
  }
  Instruction(const Instruction&) = delete;
  Instruction& operator=(const Instruction&) = delete;

  Instruction& Use(Ref id) {
    const auto position = static_cast<uint32_t>(out_.words.size());
    if (id.own()) {
      Push(out_.own, position);
      return Word(id.number());
    }
    KILN_DCHECK(id.valid());
    Push(out_.imports, {position, id.symbol()});
    return Word(0u);
  }
  Instruction& Use(SymbolId symbol) { return Use(Ref::Of(symbol)); }
  Instruction& Word(uint32_t word) {
    Push(out_.words, word);
    return *this;
  }
  template <class E>
  requires std::is_enum_v<E> Instruction& Word(E word) { return Word(static_cast<uint32_t>(word)); }
  Instruction& Text(std::string_view text);  // zero-terminated, padded to a word

 private:
  static constexpr size_t kMostWords = 0xffff;

  Words& out_;
  size_t start_;
};

class CodeObjectWriter {
 public:
  Instruction Op(Part part, spv::Op op) {
    return Instruction(parts[static_cast<uint32_t>(part)], op);
  }
  Ref NewId() { return Ref::Own(own_ids++); }
  // An own id that others can name. Requires: no id without a name was made before.
  Ref Reserve(SymbolId symbol);
  // The next word of the annotations is the number of `row`.
  void AddSlot(LayoutRelocationKind kind, uint32_t row);
  void AddInsertionPoint(ir::RegionId region, bool reached);
  // Decorations of `parameter`; made on first mention.
  Words& WhenNonUniform(SymbolId parameter);
  void Clear();

  const Words& part(Part p) const { return parts[static_cast<uint32_t>(p)]; }
  size_t word_count() const {  // of all parts
    size_t count = 0;
    for (const Words& words : parts) {
      count += words.words.size();
    }
    return count;
  }

  struct ConditionalWords {
    SymbolId parameter;
    Words words;
  };

  Words parts[kPartCount];
  uint32_t own_ids = 0;
  target::Needs needs = 0;
  End end = End::kFlows;
  std::vector<SymbolId> reserved;
  std::vector<LayoutRelocation> slots;
  std::vector<InsertionPoint> insertion_points;
  std::vector<Flow> flows;
  std::vector<ConditionalWords> conditionals;
};

}  // namespace kiln::spirv
