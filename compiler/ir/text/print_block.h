// SPDX-License-Identifier: MIT
// Prints the instructions of a block, of either form; what ids are called is up to the caller.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/ir/cexpr.h"
#include "compiler/ir/insts.h"

namespace kiln::ir {

// Names by first mention: the second id of a base is "base#2", and so on.
class NameTable {
 public:
  // `base` counts only when `id` is new.
  std::string Name(uint32_t id, std::string_view base);
  bool Knows(uint32_t id) const { return names_.Contains(id); }

 private:
  FlatMap<uint32_t, std::string> names_;
  FlatMap<std::string, uint32_t> uses_;  // by base
};

// The rows that a block lives in.
struct BlockRows {
  std::span<const Inst> insts;
  std::span<const Block> blocks;
  std::span<const uint32_t> block_insts;
  std::span<const uint32_t> extra;

  std::span<const uint32_t> List(ListId id) const {
    return id.valid() ? extra.subspan(id.value + 1, extra[id.value]) : std::span<const uint32_t>{};
  }
  std::span<const uint32_t> InstsOf(BlockId id) const {
    return block_insts.subspan(blocks[id.value].first, blocks[id.value].count);
  }
};

// What the ids of instructions are called, with their sigils.
class OperandNames {
 public:
  virtual ~OperandNames() = default;
  virtual std::string Type(TypeId id) = 0;
  virtual TypeId TypeOfConst(ConstId id) = 0;
  virtual std::string Const(ConstId id) = 0;  // type and value
  virtual std::string Text(StringId id) = 0;
  virtual std::string Decl(DeclId id) = 0;
  virtual std::string Member(DeclId owner, MemberId id) = 0;
  virtual std::string Local(LocalId id) = 0;
  virtual std::string Cexpr(CexprId id) = 0;
  virtual std::string Region(RegionId id) = 0;
  // The block that a when_region prints in its place; invalid to print nothing.
  virtual BlockId BlockOf(RegionId id) = 0;
};

// Prints blocks that share values: those of one region, or of one generic function. Values are
// numbered in the order in which they are printed.
class BlockPrinter {
 public:
  BlockPrinter(const BlockRows& rows, OperandNames& names, std::string& out)
      : rows_(rows), names_(names), out_(out), numbers_(rows.insts.size()) {}

  // Numbers values from 1 again: the next block shares none with those before.
  void Restart() { last_number_ = 0; }
  // The statements of `block`, one per line. Requires: nested at most kMaxNesting deep.
  void Print(BlockId block, uint32_t indent);

 private:
  void PrintInst(uint32_t number, uint32_t indent);
  void PrintFlags(const Inst& inst);
  void PrintOperands(const Inst& inst);
  void PrintWord(std::string_view word);
  void PrintValues(std::span<const uint32_t> values);
  void PrintImage(const ImageInst& image);
  void PrintAtomic(const AtomicInst& atomic);
  void PrintBarrier(const BarrierMode& mode);
  void PrintCases(const SwitchInst& inst, uint32_t indent);
  void PrintHint(const Inst& inst);
  void PrintOperand(const Inst& inst, OperandSchema schema, uint32_t word);
  void PrintBraces(BlockId block, uint32_t indent);

  BlockRows rows_;
  OperandNames& names_;
  std::string& out_;
  std::vector<uint32_t> numbers_;  // by inst; 0 not printed yet
  uint32_t last_number_ = 0;
};

}  // namespace kiln::ir
