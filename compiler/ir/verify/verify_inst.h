// SPDX-License-Identifier: MIT
// Checks types and classes of the operands of specialised instructions, by kind. See docs/IR.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/verify/checked_region.h"
#include "compiler/ir/verify/verify_memory.h"

namespace kiln::ir {

class InstVerifier {
 public:
  // `region` takes the error and must outlive the verifier.
  explicit InstVerifier(CheckedRegion& region) : region_(region), memory_(region) {}

  // Requires: ids are in range, operands have run, and owned blocks have been checked.
  void Verify(uint32_t number);

 private:
  void VerifyPlaceInst(const Inst& inst);
  void VerifyValueInst(const Inst& inst);
  void VerifyStatement(const Inst& inst);
  void VerifyGlobal(const Inst& inst);
  void VerifyLocal(const Inst& inst);
  void VerifyAccess(const Inst& inst);
  void VerifyIo(const Inst& inst);
  bool IsArrayOfResources(InstId root) const;
  void IsResult(const Inst& inst, std::optional<TypeId> type);
  void VerifyOperator(const Inst& inst);
  void VerifyChoice(const Inst& inst);
  void VerifyConstruct(const Inst& inst);
  void VerifyBuiltin(const Inst& inst);
  void VerifyCall(const Inst& inst);
  void VerifyArgument(const SpecialisedMember& parameter, InstId argument);
  void VerifyReturn(const Inst& inst);
  void VerifyLoop(const LoopInst& loop);
  void VerifySwitch(const SwitchInst& inst);
  void VerifyJump(LocalId exit, InstKind kind);
  void VerifyInsertionPoint(const Inst& inst);

  CheckedRegion& region_;
  MemoryVerifier memory_;
};

}  // namespace kiln::ir
