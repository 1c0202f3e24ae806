// SPDX-License-Identifier: MIT
// The operands of an instruction by schema, for code that treats all kinds alike: checks, printing,
// parsing, copying. Code that means one kind reads its typed view instead.
#pragma once

#include <array>
#include <cstdint>
#include <span>

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
// Every schema whose word is a ListId.
constexpr bool HoldsList(OperandSchema schema) {
  return IsListSchema(schema) || schema == OperandSchema::kBlocks ||
         schema == OperandSchema::kTexts || schema == OperandSchema::kPart ||
         schema == OperandSchema::kCases;
}

// --- the cases of a switch -----------------------------------------------------------------------
// Words of a kCases list: the selector, then for each case a head, its labels (ConstId) and its
// block. Head: number of labels << 2, 2 if it is the default too, 1 if it goes through to the next.
struct SwitchCase {
  std::span<const uint32_t> labels{};  // ConstIds
  bool is_default = false;
  bool through = false;
  uint32_t block = 0;
};
constexpr uint32_t CaseHead(size_t labels, bool is_default, bool through) {
  return static_cast<uint32_t>(labels) << 2 | (is_default ? 2u : 0u) | (through ? 1u : 0u);
}
// Calls visit(SwitchCase) for each case. False if the words are no such list.
template <class Visit>
bool ForEachCase(std::span<const uint32_t> words, Visit visit) {
  if (words.empty()) {
    return false;
  }
  for (size_t i = 1; i < words.size();) {
    const size_t labels = words[i] >> 2;
    if (words.size() - i < labels + 2) {
      return false;
    }
    visit(SwitchCase{.labels = words.subspan(i + 1, labels),
                     .is_default = (words[i] & 2u) != 0,
                     .through = (words[i] & 1u) != 0,
                     .block = words[i + 1 + labels]});
    i += labels + 2;
  }
  return true;
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
    } else if (operand.schema == OperandSchema::kPart || operand.schema == OperandSchema::kCases) {
      const std::span<const uint32_t> words = lists(ListId{operand.word});
      if (!words.empty()) {
        visit(words[0]);
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
    } else if (operand.schema == OperandSchema::kCases) {
      ForEachCase(lists(ListId{operand.word}), [&](const SwitchCase& one) { visit(one.block); });
    }
  }
}

// Nothing follows it in its block.
constexpr bool IsTerminator(InstKind kind) {
  return kind == InstKind::kYield || kind == InstKind::kBreak || kind == InstKind::kContinue ||
         kind == InstKind::kReturn || kind == InstKind::kDiscard || kind == InstKind::kUnreachable;
}

// --- what single words may hold ------------------------------------------------------------------
// Number of enumerators that the low byte of the flags may hold.
uint32_t FlagBound(FlagSchema schema);
// The InstFlag bits that a kind may have, whatever its operands are; for a loop, the whole byte.
uint16_t AllowedFlags(InstKind kind);
// Are the flags of this row those of its kind?
bool HasGoodFlags(const Inst& inst);
// Is the literal of this row one? Of `extract` and `io` any number is.
bool HasGoodLiteral(const Inst& inst, uint32_t literal);
// How many blocks a list of blocks may have: least and most. Requires: the schema is kBlocks.
struct BlockCounts {
  size_t least = 0;
  size_t most = 0;
};
BlockCounts BlockCountsOf(InstKind kind);

}  // namespace kiln::ir
