// SPDX-License-Identifier: MIT
// Limits of manifests and their sources (spec/daemon 10) that a client checks before anything is
// sent, and the rule for logical paths (spec/daemon 11.6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kiln::project {

inline constexpr size_t kMaxManifest = size_t{4} << 20;  // bytes
inline constexpr size_t kMaxSources = 256;               // of a program
inline constexpr size_t kMaxPrograms = 20'000;
inline constexpr uint64_t kMaxResults = 100'000;  // distinct ones of a program
inline constexpr size_t kMaxTargets = 64;         // of a program
inline constexpr size_t kMaxTags = 64;            // of a program
inline constexpr size_t kMaxAxes = 4096;          // of a program
inline constexpr size_t kMaxMacros = 64;          // with several values, of a program
inline constexpr size_t kMaxMacroValues = 256;    // of one of them
inline constexpr size_t kMaxExpressions = 4096;   // of a program, exclusions and requirements
inline constexpr size_t kMaxAxisValues = 4096;
inline constexpr uint64_t kMaxInherited = uint64_t{256} << 20;  // bytes that programs take over
inline constexpr size_t kMaxExpression = 4096;                  // bytes
inline constexpr size_t kMaxName = 128;
inline constexpr size_t kMaxMessage = 1024;       // bytes of what is said of a manifest
inline constexpr size_t kMaxFiles = 20'000;       // of a manifest
inline constexpr int kMaxDepth = 64;              // of folders that are looked through for sources
inline constexpr size_t kMaxEntries = 1'000'000;  // of them
inline constexpr size_t kMaxPlaces = 500'000;     // that includes may lead to
inline constexpr uint64_t kMaxSourceSet = uint64_t{512} << 20;  // bytes of them
inline constexpr uint64_t kMaxSource = uint64_t{4} << 20;       // bytes of one

inline constexpr std::string_view kLimitReason = "LIMIT_EXCEEDED";

}  // namespace kiln::project
