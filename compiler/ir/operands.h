// SPDX-License-Identifier: MIT
// The operands of an instruction by schema, for code that treats all kinds alike: checks, printing,
// parsing, copying. Code that means one kind reads its typed view instead.
#pragma once

#include <array>
#include <cstdint>

#include "compiler/ir/insts.h"

namespace kiln::ir {

struct Operand {
  OperandSchema schema = OperandSchema::kNone;
  uint32_t word = 0;
};

constexpr std::array<Operand, 2> OperandsOf(const Inst& inst) {
  const InstFacts& facts = FactsOf(inst.kind);
  return {Operand{facts.a, inst.a}, Operand{facts.b, inst.b}};
}

// Of instructions or locals: in brackets in the text form.
constexpr bool IsListSchema(OperandSchema schema) {
  return schema == OperandSchema::kInsts || schema == OperandSchema::kLocals;
}
// Owned blocks: in braces.
constexpr bool IsBlockSchema(OperandSchema schema) {
  return schema == OperandSchema::kBlock || schema == OperandSchema::kBlocks;
}

// The inverse, for readers of the text form.
constexpr Inst MakeInst(InstKind kind, uint16_t flags, TypeId type,
                        const std::array<uint32_t, 2>& words) {
  return {kind, flags, type, words[0], words[1]};
}

// Kinds whose operand `a` continues a chain: a + b + c, a.b.c, a && b && c. Chains may be as long
// as a source makes them, so nothing recurses along `a`.
constexpr bool IsChain(InstKind kind) {
  return kind == InstKind::kNameBinary || kind == InstKind::kLogical || kind == InstKind::kMember ||
         kind == InstKind::kIndex;
}

// Calls visit(word) for every instruction `inst` uses as an operand, in order. `lists(ListId)`
// returns the words of a list.
template <class Lists, class Visit>
void ForEachInstOperand(const Inst& inst, Lists lists, Visit visit) {
  for (const Operand& operand : OperandsOf(inst)) {
    if (operand.schema == OperandSchema::kInst ||
        (operand.schema == OperandSchema::kOptInst && operand.word != kNoRow)) {
      visit(operand.word);
    } else if (operand.schema == OperandSchema::kInsts) {
      for (const uint32_t word : lists(ListId{operand.word})) {
        visit(word);
      }
    }
  }
}

// The same for the blocks `inst` owns.
template <class Lists, class Visit>
void ForEachOwnedBlock(const Inst& inst, Lists lists, Visit visit) {
  for (const Operand& operand : OperandsOf(inst)) {
    if (operand.schema == OperandSchema::kBlock) {
      visit(operand.word);
    } else if (operand.schema == OperandSchema::kBlocks) {
      for (const uint32_t word : lists(ListId{operand.word})) {
        visit(word);
      }
    }
  }
}

}  // namespace kiln::ir
