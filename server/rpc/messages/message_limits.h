// SPDX-License-Identifier: MIT
// What a message may ask for and hold, whoever sends it: limits of class S. `limit_table` tells
// them to clients, the conversions enforce them. See spec/daemon 10
#pragma once

#include <cstddef>
#include <cstdint>

#include "cache/leases/bounded_pins.h"

namespace kiln::rpc {

// Sizes in bytes.
inline constexpr uint64_t kMaxStreamMessage = uint64_t{1} << 20;
inline constexpr uint64_t kMaxInlineSource = uint64_t{256} << 10;
inline constexpr uint64_t kMaxSourceFile = uint64_t{4} << 20;
inline constexpr uint64_t kMaxSourceSet = uint64_t{512} << 20;
inline constexpr uint64_t kMaxSourceFiles = 20'000;                // of a manifest, as one upload
inline constexpr uint64_t kMaxStoredRequest = uint64_t{64} << 20;  // one that came by spaces_digest
inline constexpr uint64_t kMaxSources = 256;
inline constexpr uint64_t kMaxIncludedFiles = 256;  // that a message lists; longer lists by digest
inline constexpr uint64_t kMaxIncludeRoots = 64;
inline constexpr uint64_t kMaxDefines = 1024;
inline constexpr uint64_t kMaxDefine = 4096;  // bytes of a macro's name and value
inline constexpr uint64_t kMaxPrograms = 20'000;
inline constexpr uint64_t kMaxListedPrograms = 1'000;
inline constexpr uint64_t kMaxAxisValues = 4096;
inline constexpr uint64_t kMaxExpression = 4096;
inline constexpr uint64_t kMaxTags = 64;  // of a program
inline constexpr uint64_t kMaxTag = 256;  // bytes
inline constexpr uint64_t kMaxDigests = 10'000;
inline constexpr uint64_t kMaxPackEntries = 1'000'000;
inline constexpr uint64_t kMaxPinName = cache::kMaxPinName;
inline constexpr size_t kMaxNameOfRequest = 1024;  // of projects, programs and entry points
inline constexpr uint64_t kMaxRecipes = 8;
// What one stream of replies may hold in memory for its reader (spec/daemon 2.7).
inline constexpr uint64_t kMaxStreamBuffer = uint64_t{4} << 20;
inline constexpr uint64_t kMaxTargets = 64;
inline constexpr uint64_t kMaxAxes = 4096;         // of a program: as many as it may have options
inline constexpr uint64_t kMaxExpressions = 4096;  // of a program, exclusions and requirements
// Of a unary reply whose size follows from what a request names and not from its own.
inline constexpr uint64_t kMaxReply = uint64_t{64} << 20;

// Bytes of the paths that includes asked for, as an Outcome lists them.
inline constexpr uint64_t kMaxIncludedPaths = uint64_t{1} << 20;

// Bytes of all labels of readers in a ListOptionsReply. Each has the path of its source, so a short
// request could ask for a reply that is a hundred times as long, and longer than what clients take
// (4 MiB unless they say otherwise); readers beyond are left out.
inline constexpr uint64_t kMaxReaderLabels = uint64_t{2} << 20;

}  // namespace kiln::rpc
