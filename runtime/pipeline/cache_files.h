// SPDX-License-Identifier: MIT
// The file system as driver caches see it: few operations, so that tests can end a run between any
// two of them. See spec/pso 8.1, 8.4
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln::runtime {

// Errors are kUnavailable with the path and why, unless said otherwise.
class CacheFiles {
 public:
  virtual ~CacheFiles() = default;

  // Only the user gets at it (0700).
  virtual Result<void> MakeFolder(const std::string& path) = 0;
  // nullopt if there is no such file. Errors: kPermissionDenied if it is not the user's or others
  // may write it; kResourceExhausted above `limit`, before anything is allocated.
  virtual Result<std::optional<Bytes>> Read(const std::string& path, uint64_t limit) = 0;
  // A new file (0600), written and on the disk. Errors: kAlreadyExists; kResourceExhausted: full.
  virtual Result<void> WriteNew(const std::string& path, ByteView bytes) = 0;
  virtual Result<void> Rename(const std::string& from, const std::string& to) = 0;
  virtual Result<void> SyncFolder(const std::string& path) = 0;
  // A missing file is not a failure.
  virtual Result<void> Remove(const std::string& path) = 0;
  // Waits for others; ends with the object.
  virtual Result<std::shared_ptr<void>> Lock(const std::string& path) = 0;
  // If files that end in `suffix` have more than `limit` bytes, removes those that nobody wrote for
  // `days`.
  virtual void RemoveOld(const std::string& folder, const std::string& suffix, uint64_t limit,
                         uint32_t days) = 0;
};

// The real one. Stateless.
CacheFiles& SystemCacheFiles();

// $XDG_CACHE_HOME/kiln/pso, or ~/.cache/kiln/pso; empty if neither is known.
std::string DefaultCacheFolder();

}  // namespace kiln::runtime
