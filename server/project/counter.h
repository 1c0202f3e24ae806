// SPDX-License-Identifier: MIT
// How many points of an option space no exclusion drops, and which one has a given rank, without
// walking the space: exclusions are evaluated partially, axis by axis, and what is left is
// remembered. Everything here asks CheckStop and charges what it keeps
// (compiler/base/threads/stop). See spec/daemon 6.4
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/lru_map.h"
#include "compiler/driver/residuals.h"

namespace kiln::project {

// A number of points; saturates.
__extension__ using PointCount = unsigned __int128;
inline constexpr PointCount kManyPoints = ~PointCount{0};

// Decimal.
std::string TextOf(PointCount count);

struct CountedAxis {
  ir::OptionId option;
  std::vector<uint32_t> values;  // bits, as in resolve::OptionValues; distinct
};

class Counter {
 public:
  // `program` must outlive it. Each exclusion drops the points where it is true; options that are
  // no axis have been given.
  Counter(const resolve::Program& program, std::vector<CountedAxis> axes,
          driver::Residuals residuals, const std::vector<driver::Residuals::Number>& exclusions);

  struct Limits {
    size_t entries = 1'000'000;
    Duration time = std::chrono::seconds(2);
    uint64_t bytes = uint64_t{256} << 20;
  };
  struct Count {
    PointCount points = 0;
    bool exact = true;  // false: an upper bound, the limits were reached or an exclusion failed
  };
  Count All(const Limits& limits, Clock& clock);

  // Values, one for each axis, of the allowed point of a rank; the last axis varies fastest.
  // Requires: All was exact, and rank is below it.
  std::vector<uint32_t> Unrank(PointCount rank);

  // The first allowed point for every assignment of the axes in `live` (one flag for each axis)
  // that has one, with the number of allowed points that agree on them. At most `limit` points, in
  // rank order of the live axes; nothing if there are more. Requires: All was exact.
  struct LivePoint {
    std::vector<uint32_t> values;  // one for each axis
    PointCount served = 0;
  };
  std::optional<std::vector<LivePoint>> LivePoints(const std::vector<bool>& live, size_t limit);

  // Values that axes are held at, one for each; nothing: the axis is free.
  using Held = std::vector<std::optional<uint32_t>>;
  // The first allowed point, in rank order, that agrees with them. Requires: All was exact.
  std::optional<std::vector<uint32_t>> First(const Held& held);
  // How many do. Requires: the same.
  PointCount CountOf(const Held& held);
  std::vector<std::vector<uint32_t>> AxisValues() const;

  // How many assignments of the live axes there may be: exclusions that mention other axes are left
  // out. Requires: All was exact.
  PointCount LiveBound(const std::vector<bool>& live);
  bool MentionsDead(const std::vector<bool>& live) const;

  size_t entries() const { return known_.size(); }

 private:
  using Conditions = std::vector<driver::Residuals::Number>;  // sorted, distinct, no literals
  struct ConditionsHash {
    uint64_t operator()(const Conditions& conditions) const {
      return Hash64(ByteView(reinterpret_cast<const std::byte*>(conditions.data()),
                             conditions.size() * sizeof(conditions[0])));
    }
  };

  // Points over the axes that the conditions mention; nothing if the limits were reached.
  std::optional<PointCount> Allowed(const Conditions& conditions);
  std::optional<PointCount> AllowedByBranching(const Conditions& conditions);
  // What is left for one value of an axis: nothing if everything is dropped.
  std::optional<Conditions> Given(const Conditions& conditions, uint32_t axis, uint32_t value);
  // The same for all axes that are held, and the axes that are not.
  std::optional<Conditions> Given(const Held& held);
  static std::vector<uint32_t> Free(const Held& held);
  std::vector<uint32_t> AxesOf(const Conditions& conditions) const;
  // Conditions in groups that share no axis.
  std::vector<Conditions> Groups(const Conditions& conditions) const;
  PointCount SizeOf(const std::vector<uint32_t>& axes, const std::vector<uint32_t>& without) const;
  // All was exact: from now on only the bounds of the call count.
  void Unlimited();
  bool MayGoOn() const;
  // Goes on with the axes of `order` from `next` on; false if there are more than `limit` points.
  bool AddLivePoints(const std::vector<uint32_t>& order, size_t next, size_t live_count,
                     const Conditions& conditions, LivePoint& point, size_t limit,
                     std::vector<LivePoint>& points);
  // Points over `axes`, which contain those mentioned.
  std::optional<PointCount> Over(const std::vector<uint32_t>& axes, const Conditions& conditions);

  const resolve::Program& program_;
  const std::vector<CountedAxis> axes_;
  driver::Residuals residuals_;
  Conditions exclusions_;
  bool drops_all_ = false;
  bool failed_ = false;
  std::vector<uint32_t> axis_of_;                         // by OptionId, or kNoAxis
  LruMap<Conditions, PointCount, ConditionsHash> known_;  // cost: bytes
  size_t most_known_ = Limits{}.entries;                  // at the start of a call
  Limits limits_;
  Clock* clock_ = nullptr;
  Duration end_{};
};

}  // namespace kiln::project
