// SPDX-License-Identifier: MIT
// Checks the regions and instructions of a generic module: the second half of VerifyIds (verify.h),
// which may rely on the tables (verify_generic.h).
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/operands.h"
#include "compiler/ir/verify/image_rows.h"

namespace kiln::ir {

class BodyVerifier {
 public:
  // `rows` takes the error and must outlive the verifier. Requires: TableVerifier has run on it.
  explicit BodyVerifier(ImageRows& rows)
      : rows_(rows),
        module_(rows.module()),
        form_(module_.header.typed != 0 ? Form::kTypedGeneric : Form::kUntyped) {}

  void Run();

 private:
  enum class Ending : uint8_t { kFlows, kYields };

  void VerifyRegions();
  void VerifyRegionLocals();
  void VerifyInsts();
  void VerifyOperand(uint32_t row, const Operand& operand);
  void WalkRegion(uint32_t region);
  void WalkBlock(BlockId id, Ending ending, uint32_t depth);
  void WalkInst(uint32_t row, Ending ending, bool last, uint32_t depth);
  void WalkOwnedBlocks(uint32_t row, uint32_t depth);
  bool LoopPartYields(uint32_t number, uint32_t block) const;
  void CheckLocalsOf(const Inst& inst, uint32_t row);
  void CheckMention(const Inst& inst, uint32_t row);
  bool VerifyCases(std::span<const uint32_t> words);
  bool MayMention(LocalId local) const;
  bool MayMention(uint32_t row, DeclId decl) const;

  ImageRows& rows_;
  const ModuleView& module_;
  const Form form_;                    // of the module
  std::vector<uint32_t> region_end_;   // by region: first region behind those nested in it
  std::vector<uint32_t> local_owner_;  // by local: region that lists it
  std::vector<uint32_t> inst_nesting_;
  std::vector<bool> visible_;           // by inst: has run, and its block is open
  std::vector<bool> placed_;            // by inst
  std::vector<bool> owned_;             // by block
  std::vector<bool> mentioned_;         // by region: has its when_region
  std::vector<uint32_t> region_depth_;  // by region: nesting of its block
  uint32_t region_ = 0;                 // being walked
};

}  // namespace kiln::ir
