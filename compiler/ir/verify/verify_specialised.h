// SPDX-License-Identifier: MIT
// The check of one specialised region; see verify.h for what it proves.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/result.h"
#include "compiler/ir/verify/checked_region.h"
#include "compiler/ir/verify/verify_inst.h"

namespace kiln::ir {

class RegionVerifier {
 public:
  // `surroundings` may be null; everything given must outlive the verifier.
  RegionVerifier(const SpecialisedRegion& region, const Pool& pool,
                 const Surroundings* surroundings);
  RegionVerifier(const RegionVerifier&) = delete;
  RegionVerifier& operator=(const RegionVerifier&) = delete;

  Result<void> Run();

 private:
  enum class Ending : uint8_t { kFlows, kYields };

  bool ListInRange(ListId id);
  void VerifyBlock(BlockId id, Ending ending, uint32_t depth);
  void VerifyPlaced(uint32_t number, bool last, Ending ending, uint32_t depth);
  bool VerifyCases(std::span<const uint32_t> words) const;
  bool IsEmpty(BlockId id) const;
  bool EndsInYield(BlockId id) const;
  bool VerifyOperands(const Inst& inst);
  void VerifyOwnedBlocks(const Inst& inst, uint32_t depth);
  void OpenExit(LocalId exit, LocalKind kind);

  CheckedRegion region_;
  InstVerifier insts_;
  FlatMap<uint32_t, bool> loops_;  // exits that have their loop
  std::vector<bool> visible_;      // by inst
  std::vector<bool> placed_;       // by inst
  std::vector<bool> owned_;        // by block
};

}  // namespace kiln::ir
