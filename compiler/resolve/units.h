// SPDX-License-Identifier: MIT
// Where closed units come from: computed anew (DirectUnits, driver/direct_builder) or remembered
// (MemoUnits, driver/memo_units). Memoisation is a decorator; everything behind this
// interface is one code for both. See spec/architecture 10.2.
#pragma once

#include <cstdint>
#include <memory>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/closed.h"

namespace kiln::resolve {

class Answers;
class Program;
struct WalkMemory;

// How many variants are closed with the same units: for one, nothing beside them is remembered.
enum class Serves : uint8_t { kOneVariant, kManyVariants };

class Units {
 public:
  explicit Units(Serves serves = Serves::kOneVariant);
  virtual ~Units();
  Units(const Units&) = delete;
  Units& operator=(const Units&) = delete;
  // References stay valid as long as the Units.
  virtual const Diagnosed<ir::ClosedDecl>& Decl(ir::DeclId decl, Answers& answers) = 0;
  virtual const Diagnosed<ir::ClosedSegment>& Segment(ir::SegmentId segment, Answers& answers) = 0;

  // What walks keep beside the units; one program and list of entry points for their life.
  WalkMemory& MemoryOf(const Program& program);

 protected:
  void ForgetWalks();

 private:
  Serves serves_;
  std::unique_ptr<WalkMemory> memory_;
};

}  // namespace kiln::resolve
