// SPDX-License-Identifier: MIT
// The option space of one program: axes, exclusions, requirements, explicit variants; which of its
// points are allowed, in rank order (axis name, then value order in the manifest). List walks;
// counter.h counts. Both ask CheckStop and charge what they keep (compiler/base/threads/stop).
// See spec/daemon 6.2 to 6.5
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/diag/place.h"
#include "compiler/driver/expressions.h"
#include "compiler/driver/request.h"
#include "compiler/resolve/values/options.h"
#include "server/project/counter.h"

namespace kiln::project {

struct Axis {
  std::string name;
  bool all = false;  // every value; flags and enums only
  std::vector<resolve::OptionSetting> values;
};

struct SpaceRequest {
  std::vector<resolve::OptionSetting> fixed;
  std::vector<Axis> axes;
  std::vector<std::string> exclude;                           // drop where true
  std::vector<std::string> require;                           // keep only where all are true
  std::vector<std::vector<resolve::OptionSetting>> variants;  // explicit extras
  std::vector<bool> warm;                                     // of these: built first
  std::vector<std::vector<uint32_t>> variant_targets;  // of these: indexes of targets; empty: all
  // Where exclusions, then requirements stand, for messages; those without a place may be left out.
  std::vector<PlacedSpan> places;
  bool only_explicit = false;
};

// Roughly the memory of a point.
uint64_t BytesOf(const std::vector<resolve::OptionSetting>& point);

// A message of Space::Make or List about a condition, where it stands.
PlacedDiagnostic PlaceIn(const SpaceRequest& request, const Diagnostic& diagnostic);

class Space {
 public:
  // `program` must outlive the space. Diagnostics: RPL2003 to RPL2007 of fixed values and axes, and
  // those of the expressions.
  static Diagnosed<Space> Make(const driver::LinkedProgram& program, const SpaceRequest& request);

  // Points of the axes before exclusion; saturates at 2^64 - 1.
  uint64_t combinations() const { return combinations_; }

  // Up to `limit` allowed points as settings of the axes, from rank `from`; `next` is where to go
  // on, or combinations() at the end. Explicit variants are not among them.
  struct Page {
    std::vector<std::vector<resolve::OptionSetting>> points;
    uint64_t next = 0;
  };
  Diagnosed<Page> List(uint64_t from, uint64_t limit);

  // Counts allowed points without walking. Nothing if a condition rests on more than options, or
  // fails for some values: then only walking tells. The counter refers to the program.
  std::optional<Counter> MakeCounter() const;

  // Axes whose option the program mentions at all, one flag for each: others cannot change a
  // result (spec/daemon 6.5.1, taken over the whole program).
  std::vector<bool> LiveAxes() const;

  // The settings of a point that a counter gives.
  std::vector<resolve::OptionSetting> SettingsOf(const std::vector<uint32_t>& values) const;

  std::vector<std::string> AxisNames() const;
  std::vector<size_t> AxisSizes() const;

  const std::vector<std::vector<resolve::OptionSetting>>& explicit_variants() const {
    return explicit_;
  }

 private:
  struct Value {
    resolve::OptionSetting setting;
    ir::OptionId option;
    uint32_t bits = 0;
  };

  const driver::LinkedProgram* program_ = nullptr;
  resolve::OptionValues fixed_;
  std::vector<std::vector<Value>> axes_;  // sorted by name
  uint64_t combinations_ = 0;
  std::unique_ptr<driver::Expressions> conditions_;  // exclusions, then requirements
  size_t exclude_count_ = 0;
  std::vector<std::vector<resolve::OptionSetting>> explicit_;
};

}  // namespace kiln::project
