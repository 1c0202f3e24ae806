// SPDX-License-Identifier: MIT
// A typed index into a flat table. Ids of different tables do not mix, and an id has no order: what
// is sorted is sorted by shape, declaration or first mention, never by an id that depends on
// history.
#pragma once

#include <cstdint>
#include <type_traits>

namespace kiln {

// Tag is any type, complete or not; it only tells tables apart.
template <class Tag>
struct Id {
  static constexpr uint32_t kNone = 0xffffffffu;

  uint32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(uint32_t number) : value(number) {}

  constexpr bool valid() const { return value != kNone; }

  friend constexpr bool operator==(Id a, Id b) { return a.value == b.value; }
};

static_assert(sizeof(Id<void>) == 4 && std::is_trivially_copyable_v<Id<void>>);

}  // namespace kiln
