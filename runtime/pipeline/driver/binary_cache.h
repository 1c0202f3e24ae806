// SPDX-License-Identifier: MIT
// The driver's pipeline cache between runs. A file that is missing, stale, damaged or hostile
// changes time, never results: the driver only gets data that this very driver build gave.
// See spec/pso 8
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "compiler/base/mutex.h"
#include "runtime/pipeline/cache_files.h"
#include "runtime/pipeline/driver/driver_identity.h"
#include "runtime/vk/unique.h"

namespace kiln::runtime {

struct CacheFolder {
  std::string path;
  CacheFiles* files = nullptr;  // null: the file system
  LogSink* log = nullptr;       // not null
};

// The file: 128 bytes, little-endian, then what the driver gave.
//   0 magic  8 u32 version 1  12 u32 header size 128  16 identity  32 u64 data size
//   40 XXH3-128 of the data  56 u64 save counter  64 u32 driverVersion  68 u32 vendorID
//   72 u32 deviceID  76 zero  120 u64 XXH3-64 of bytes 0–119
struct CacheFile {
  uint64_t counter = 0;
  ByteView data;  // of the bytes that were read
};
Bytes EncodeCacheFile(const DeviceIdentity& device, const Hash128& identity, uint64_t counter,
                      ByteView data);
// Errors: CACHE_REJECTED with what is wrong.
Result<CacheFile> DecodeCacheFile(const DeviceIdentity& device, const Hash128& identity,
                                  ByteView bytes);

// ForWorker: that worker only. Save and Confirm: any thread. The device outlives it.
class BinaryCache {
 public:
  static constexpr uint64_t kMaxBytes = uint64_t{1} << 30;

  // A file that cannot be used is a line of the log and a cold start.
  // Errors: OUT_OF_MEMORY, DEVICE_LOST.
  static Result<std::unique_ptr<BinaryCache>> Open(const Device& device, const CacheFolder& folder,
                                                   const Hash128& identity, uint32_t workers);

  VkPipelineCache ForWorker(uint32_t worker) const { return current_[worker].load(); }

  // The driver has survived the data that were loaded.
  void Confirm();

  // Merges with what others wrote meanwhile and replaces the file, unless nothing is new.
  // Errors: kResourceExhausted: the disk is full, the old file stays; other trouble of files.
  Result<void> Save();

  // What another process of this driver has saved in `folder` is known to every worker from its
  // next ForWorker on. Errors: CACHE_REJECTED; OUT_OF_MEMORY, DEVICE_LOST; trouble of files.
  Result<void> Adopt(const std::string& folder);

  size_t loaded_bytes() const { return loaded_bytes_; }
  // Of the file as it is now: its size, and since when; nothing if there is none.
  std::optional<std::pair<uint64_t, Duration>> FileState() const;
  std::string path() const { return Name(".vkcache"); }

 private:
  BinaryCache(const Device& device, const CacheFolder& folder, const Hash128& identity);

  std::string Name(std::string_view suffix) const;
  // The data of the file; empty if there is none that can be used.
  Bytes Load();
  Bytes Checked(Bytes bytes) KILN_REQUIRES(mutex_);
  Result<vk::UniquePipelineCache> Make(ByteView data) const;
  Result<Bytes> Merged(ByteView others) const KILN_REQUIRES(mutex_);
  Result<void> Replace(ByteView data, uint64_t counter);
  void Tell(std::string_view message, const Error& error) const;

  const Device* device_;
  CacheFolder folder_;
  Hash128 identity_;
  std::vector<std::atomic<VkPipelineCache>> current_;  // by worker
  size_t loaded_bytes_ = 0;

  mutable Mutex mutex_;
  std::vector<vk::UniquePipelineCache> caches_ KILN_GUARDED_BY(mutex_);  // all that ever were
  bool marked_ KILN_GUARDED_BY(mutex_) = false;   // the suspect mark is there
  bool useless_ KILN_GUARDED_BY(mutex_) = false;  // the folder cannot be used
  uint64_t counter_ KILN_GUARDED_BY(mutex_) = 0;
  Hash128 saved_ KILN_GUARDED_BY(mutex_);  // of the data in the file
};

}  // namespace kiln::runtime
