// SPDX-License-Identifier: MIT
// What went wrong in the variants of one program: each message once, with the number of variants
// that have it and the shortest condition that tells them from the others. See spec/daemon 3.1
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/diag/place.h"
#include "server/compile/batch/batch_points.h"

namespace kiln::compile {

struct MergedFailure {
  PlacedDiagnostic diagnostic;                  // `variants` says which, without an example
  std::vector<resolve::OptionSetting> example;  // of a variant that has it
};

class MergedFailures {
 public:
  // What a failing point of the program has to say; a point may come once for each target. Of more
  // than kMaxDiagnostics different messages the first are kept.
  void Add(size_t point, std::span<const PlacedDiagnostic> diagnostics);

  bool empty() const { return failing_.empty(); }
  // Variants that fail; saturates.
  uint64_t Failing(const BatchPoints& points) const;
  // Sorted for reading. A program of a single variant needs no `variants`. Conditions name options
  // in the order of `declared`, others after them.
  std::vector<MergedFailure> Merge(const BatchPoints& points,
                                   std::span<const std::string> declared) const;

 private:
  struct Occurrence {
    PlacedDiagnostic diagnostic;
    std::vector<size_t> points;  // in the order of their coming
  };
  std::vector<Occurrence> found_;
  std::vector<size_t> failing_;
};

}  // namespace kiln::compile
