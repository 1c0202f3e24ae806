// SPDX-License-Identifier: MIT
// Every RPC with the scope that it needs, its lane, and whether it answers before the store is
// open. The table decides in CallContext, and tests run over it: an RPC of proto/ without a row
// fails them, and needs admin until it has one. See spec/daemon 4, 5.1, 14.1
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "server/jobs/job.h"
#include "server/ops/tokens.h"

namespace kiln::rpc {

enum class Answers : uint8_t { kOnceReady, kFromTheStart };

struct MethodRow {
  std::string_view service;
  std::string_view method;  // unique over all services
  ops::Scope scope;
  jobs::Lane lane = jobs::Lane::kInteractive;
  Answers answers = Answers::kOnceReady;
  // For callers of scope read it only looks; for others it is a call that writes, as the audit log
  // has it.
  bool looks_for_readers = false;
  jobs::Length length = jobs::Length::kShort;  // of its interactive jobs
};

inline constexpr ops::Scope kRead = ops::Scope::kRead;
inline constexpr ops::Scope kWrite = ops::Scope::kWrite;
inline constexpr ops::Scope kPeer = ops::Scope::kPeer;
inline constexpr ops::Scope kAdmin = ops::Scope::kAdmin;
inline constexpr jobs::Lane kBatchLane = jobs::Lane::kBatch;

constexpr MethodRow LooksForReaders(MethodRow row) {
  row.looks_for_readers = true;
  return row;
}
// Bounded by seconds and not by one compile.
constexpr MethodRow RunsLong(MethodRow row) {
  row.length = jobs::Length::kLong;
  return row;
}

inline constexpr std::array<MethodRow, 42> kMethods = {{
    {"CompileService", "PutSources", kWrite},
    LooksForReaders({"CompileService", "Compile", kRead}),
    {"CompileService", "Fetch", kRead},  // and kWrite if it is to compile what is missing
    RunsLong({"CompileService", "ListOptions", kRead}),
    RunsLong({"CompileService", "CountVariants", kRead}),
    RunsLong({"CompileService", "ListVariants", kRead}),
    {"CompileService", "Inspect", kRead},
    RunsLong({"CompileService", "Explain", kRead}),
    RunsLong(LooksForReaders({"BatchService", "StartBatch", kRead, kBatchLane})),
    {"BatchService", "WatchBatch", kRead, kBatchLane},
    {"BatchService", "GetBatch", kRead, kBatchLane},
    {"BatchService", "ListBatches", kRead, kBatchLane},
    {"BatchService", "ListBatchItems", kRead, kBatchLane},
    {"BatchService", "CancelBatch", kWrite, kBatchLane},
    {"BatchService", "PauseBatch", kWrite, kBatchLane},
    {"BatchService", "ResumeBatch", kWrite, kBatchLane},
    {"WatchService", "Watch", kWrite},
    LooksForReaders({"PackService", "BuildPack", kRead, kBatchLane}),
    {"PackService", "ReadPack", kRead},
    {"PackService", "DescribePack", kRead},
    {"CacheService", "FindMissing", kRead},
    {"CacheService", "GetBlobs", kRead},
    {"CacheService", "PutBlobs", kWrite},
    {"CacheService", "GetRows", kRead},
    {"CacheService", "PutRows", kPeer},
    {"AdminService", "GetServerInfo", kRead, jobs::Lane::kInteractive, Answers::kFromTheStart},
    {"AdminService", "GetStatus", kRead, jobs::Lane::kInteractive, Answers::kFromTheStart},
    {"AdminService", "GetCacheStats", kRead},
    {"AdminService", "GcCache", kAdmin, kBatchLane},
    {"AdminService", "VerifyCache", kAdmin, kBatchLane},
    {"AdminService", "RepairCache", kAdmin, kBatchLane},
    {"AdminService", "Pin", kWrite},
    {"AdminService", "Unpin", kWrite},
    {"AdminService", "ListPins", kRead},
    {"AdminService", "ListQuarantine", kRead},
    {"AdminService", "ListJobs", kRead},
    {"AdminService", "KillJob", kAdmin},
    {"AdminService", "ClearNegative", kWrite},
    {"AdminService", "Drain", kAdmin},
    {"AdminService", "Shutdown", kAdmin},
    {"AdminService", "ReloadConfig", kAdmin},
    {"AdminService", "SetLogLevel", kAdmin},
}};

// The row of a method; null for one that the table does not know.
constexpr const MethodRow* FindMethod(std::string_view method) {
  for (const MethodRow& row : kMethods) {
    if (row.method == method) {
      return &row;
    }
  }
  return nullptr;
}

constexpr ops::Scope ScopeOfMethod(std::string_view method) {
  const MethodRow* const row = FindMethod(method);
  return row == nullptr ? kAdmin : row->scope;
}

}  // namespace kiln::rpc
