// SPDX-License-Identifier: MIT
// Reads the instructions of a block, of either form; where rows go and what names mean is up to the
// caller. The inverse of print_block.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/ir/insts.h"
#include "compiler/ir/text/text_scanner.h"

namespace kiln::ir {

// Reads operands that are not instructions and takes the rows.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual Form form() const = 0;  // kUntyped, kTypedGeneric or kSpecialised: what kinds are allowed
  virtual TypeId ReadType() = 0;
  virtual ConstId ReadConst() = 0;
  virtual StringId ReadText() = 0;
  virtual DeclId ReadDecl() = 0;
  virtual MemberId ReadMember(DeclId owner) = 0;
  virtual LocalId ReadLocal() = 0;
  virtual CexprId ReadCexpr() = 0;
  virtual RegionId ReadRegion() = 0;
  virtual TypeId TypeOfConst(ConstId id) = 0;
  virtual TypeId VoidType() = 0;
  virtual ListId AddList(std::span<const uint32_t> words) = 0;
  virtual BlockId BeginBlock() = 0;
  virtual void EndBlock() = 0;
  virtual InstId AddInst(const Inst& inst) = 0;
};

class BlockParser {
 public:
  BlockParser(TextScanner& scanner, RowSink& sink) : scanner_(scanner), sink_(sink) {}

  // Statements up to "}", into the block that is open in the sink.
  void ParseStatements();

 private:
  void ParseInst();
  uint16_t ParseFlags(FlagSchema schema);
  uint16_t ParseOperator(FlagSchema schema);
  uint16_t ParseHint(FlagSchema schema);
  void ParseOperands(InstKind kind, std::array<uint32_t, 2>& words);
  void ParseImage(ImageOp op, std::array<uint32_t, 2>& words);
  void ParseAtomic(std::array<uint32_t, 2>& words);
  uint32_t ParseBarrier();
  uint32_t ParseCases(uint32_t selector);
  uint32_t ParseOperand(InstKind kind, OperandSchema schema, uint32_t& second);
  uint32_t ParseLiteral(InstKind kind);
  uint32_t ParseValue();
  uint32_t ParseBlock();
  uint32_t ParseBlocks();
  template <class ReadItem>
  uint32_t ParseList(ReadItem read);

  TextScanner& scanner_;
  RowSink& sink_;
  FlatMap<uint32_t, uint32_t> values_;  // number in the text -> row
  uint32_t depth_ = 0;
};

}  // namespace kiln::ir
