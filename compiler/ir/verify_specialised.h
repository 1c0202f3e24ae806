// SPDX-License-Identifier: MIT
// The check of one closed segment; see verify.h for what it proves.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/result.h"
#include "compiler/ir/specialised.h"

namespace kiln::ir {

// What is known around a segment when a whole variant is checked.
struct Surroundings {
  FlatMap<uint32_t, const SpecialisedLocal*> locals;  // of enclosing segments
  FlatMap<uint32_t, const SpecialisedDecl*> decls;    // interface and signatures
  const SpecialisedDecl* signature = nullptr;         // of the function
};

class RegionVerifier {
 public:
  // `surroundings` may be null; everything given must outlive the verifier.
  RegionVerifier(const SpecialisedRegion& segment, const Pool& pool,
                 const Surroundings* surroundings);

  Result<void> Run();

 private:
  enum class Ending : uint8_t { kFlows, kYields };

  // The first thing that does not hold is the error. Returns `holds`.
  bool Check(bool holds, std::string_view what);
  bool ListInRange(ListId id);
  void VerifyBlock(BlockId id, Ending ending, uint32_t depth);
  void VerifyPlaced(uint32_t number, bool last, Ending ending, uint32_t depth);
  bool VerifyFlags(const Inst& inst);
  bool VerifyOperands(const Inst& inst);
  void VerifyOwnedBlocks(const Inst& inst, uint32_t depth);
  void OpenLoop(LocalId exit);

  // verify_inst.cc: types and classes of operands, by kind.
  void VerifyMeaning(uint32_t number);
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
  bool IsValue(InstId id) const;
  bool IsPlace(InstId id) const;
  TypeId TypeOf(InstId id) const { return segment_.insts[id.value].type; }
  bool IsBoolValue(InstId id) const;
  bool YieldsType(BlockId block, TypeId type) const;
  std::optional<uint32_t> ConstantIndex(InstId id) const;
  const SpecialisedLocal* FindLocal(LocalId id) const;  // null if unknown
  bool Mentions(DeclId decl, MemberId member) const;

  const SpecialisedRegion& segment_;
  const Pool& pool_;
  const Surroundings* surroundings_;
  FlatMap<uint32_t, const SpecialisedLocal*> locals_;  // own
  FlatMap<uint32_t, bool> loops_;                      // exits that have their loop
  std::vector<LocalId> open_loops_;
  std::vector<bool> visible_;  // by inst
  std::vector<bool> placed_;   // by inst
  std::vector<bool> owned_;    // by block
  size_t holes_ = 0;           // met so far
  uint32_t current_ = kNoRow;  // inst, for messages
  std::optional<Error> error_;
};

}  // namespace kiln::ir
