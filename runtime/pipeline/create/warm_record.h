// SPDX-License-Identifier: MIT
// How long the last warm start took, for the time left of the next one: a hint, which may be
// missing or damaged. See spec/pso 7.4
#pragma once

#include <cstdint>

#include "compiler/base/clock.h"
#include "compiler/base/digest.h"
#include "runtime/pipeline/driver/binary_cache.h"

namespace kiln::runtime {

// <identity>.times, 32 bytes, little-endian:
//   0 magic 89 "KILNTR" 0A  8 u64 nanoseconds  16 u64 bytes of code  24 u64 XXH3-64 of bytes 0–23
struct WarmRecord {
  Duration elapsed = {};
  uint64_t code_bytes = 0;  // 0: there is none

  // What so many bytes take; zero if there is none.
  Duration For(uint64_t bytes) const;
};

WarmRecord ReadWarmRecord(const CacheFolder& folder, const Hash128& identity);
// Nothing is said if it cannot be kept.
void WriteWarmRecord(const CacheFolder& folder, const Hash128& identity, const WarmRecord& record);

}  // namespace kiln::runtime
