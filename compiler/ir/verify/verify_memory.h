// SPDX-License-Identifier: MIT
// Checks what specialised instructions do with images and with memory that invocations share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/typing/image_typing.h"
#include "compiler/ir/verify/checked_region.h"

namespace kiln::ir {

// All require: ids are in range, and operands have run.
class MemoryVerifier {
 public:
  // `region` takes the error and must outlive the verifier.
  explicit MemoryVerifier(CheckedRegion& region) : region_(region) {}

  void VerifyTexel(const Inst& inst);
  void VerifyImage(const Inst& inst);
  void VerifyAtomic(const Inst& inst);
  void VerifyBarrier(const BarrierMode& mode);
  // Builtins of RPL.
  void VerifySampling(const Inst& inst, std::span<const uint32_t> arguments);
  void VerifyMemory(const Inst& inst, std::span<const uint32_t> arguments);

 private:
  std::vector<ImageArgument> ArgumentsOf(std::span<const uint32_t> operands) const;
  bool IsSharedPlace(InstId place) const;
  bool MayBeCompute() const;  // the stage is compute, or not known

  CheckedRegion& region_;
};

}  // namespace kiln::ir
