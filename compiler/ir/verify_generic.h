// SPDX-License-Identifier: MIT
// The check of one open module; see verify.h for what it proves. Tables first (verify_generic.cc),
// then the bodies of functions (verify_body.cc), which may rely on the tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/ir/module.h"
#include "compiler/ir/operands.h"

namespace kiln::ir {

class ModuleVerifier {
 public:
  explicit ModuleVerifier(const ModuleView& module);

  Result<void> Run();

 private:
  enum class Ending : uint8_t { kFlows, kYields };

  // The first thing that does not hold is the error. Returns `holds`.
  bool Check(bool holds, std::string_view what, size_t row);
  bool ok() const { return !error_; }
  // Counts visits of shared rows, so that sharing cannot make checks or prints more than linear.
  bool Charge(size_t visits);

  // --- verify_generic.cc
  // ----------------------------------------------------------------------------
  void VerifyStrings();
  void VerifyTypes();
  void VerifyType(uint32_t row);
  void VerifyConsts();
  void VerifyCexprs();
  void VerifyCexpr(uint32_t row);
  bool VerifyLiteral(const Cexpr& cexpr) const;
  void VerifyOptions();
  void VerifyDecls();
  void VerifyDecl(uint32_t row);
  bool VerifyDeclType(const Decl& decl) const;
  void VerifyMembers(const Decl& decl);
  void VerifyMember(const Decl& decl, uint32_t row);
  void VerifyLocals();
  void VerifySpans();
  bool IsString(StringId id) const { return id.value < module_.string_ends.size(); }
  bool IsType(TypeId id) const { return id.value < module_.types.size(); }
  bool IsCexpr(CexprId id) const { return id.value < module_.cexprs.size(); }
  // A list that is invalid or lies inside the table.
  bool IsList(ListId id) const;
  // All words of a valid or absent list are below `bound`.
  bool WordsBelow(ListId id, size_t bound);
  bool IsSpan(SpanId id) const;

  // --- verify_body.cc ----------------------------------------------------------------------------
  void VerifySegments();
  void VerifySegmentLocals();
  void VerifyInsts();
  void VerifyOperand(uint32_t row, const Operand& operand);
  void WalkRegion(uint32_t segment);
  void WalkBlock(BlockId id, Ending ending, uint32_t depth);
  void WalkInst(uint32_t row, Ending ending, bool last, uint32_t depth);
  void WalkOwnedBlocks(uint32_t row, uint32_t depth);
  void CheckLocalsOf(const Inst& inst, uint32_t row);
  bool MayMention(LocalId local) const;

  const ModuleView& module_;
  size_t budget_;
  std::optional<Error> error_;

  std::vector<uint32_t> cexpr_nesting_;  // by row, and so on
  std::vector<bool> cexpr_is_typed_;     // holds a composite
  std::vector<uint32_t> segment_end_;    // first segment behind those nested in it
  std::vector<uint32_t> local_owner_;    // segment that lists the local
  std::vector<uint32_t> inst_nesting_;
  std::vector<bool> visible_;            // by inst: has run, and its block is open
  std::vector<bool> placed_;             // by inst
  std::vector<bool> owned_;              // by block
  std::vector<bool> mentioned_;          // by segment: has its when_segment
  std::vector<uint32_t> segment_depth_;  // by segment: nesting of its block
  uint32_t segment_ = 0;                 // being walked
};

}  // namespace kiln::ir
