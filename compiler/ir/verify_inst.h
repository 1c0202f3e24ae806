// SPDX-License-Identifier: MIT
// Checks types and classes of the operands of closed instructions, by kind. See docs/IR.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "compiler/ir/checked_region.h"

namespace kiln::ir {

class InstVerifier {
 public:
  // `region` takes the error and must outlive the verifier.
  explicit InstVerifier(CheckedRegion& region) : region_(region) {}

  // Requires: ids are in range, operands have run, and owned blocks have been checked.
  void Verify(uint32_t number);

 private:
  void VerifyPlaceInst(const Inst& inst);
  void VerifyValueInst(const Inst& inst);
  void VerifyStatement(const Inst& inst);
  void VerifyGlobal(const Inst& inst);
  void VerifyLocal(const Inst& inst);
  void VerifyAccess(const Inst& inst);
  void IsResult(const Inst& inst, std::optional<TypeId> type);
  void VerifyOperator(const Inst& inst);
  void VerifyChoice(const Inst& inst);
  void VerifyConstruct(const Inst& inst);
  void VerifyBuiltin(const Inst& inst);
  void VerifySampling(const Inst& inst, std::span<const uint32_t> arguments);
  void VerifyMemory(const Inst& inst, std::span<const uint32_t> arguments);
  void VerifyCall(const Inst& inst);
  void VerifyArgument(const SpecialisedMember& parameter, InstId argument);
  void VerifyReturn(const Inst& inst);
  void VerifyLoopExit(LocalId exit);
  void VerifyHole(const Inst& inst);

  CheckedRegion& region_;
};

}  // namespace kiln::ir
