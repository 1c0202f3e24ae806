// SPDX-License-Identifier: MIT
// Calls about the cache of a daemon, while it is used: its content, upkeep, pins.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/types.h"
#include "compiler/base/result.h"

namespace kiln {
class Clock;
namespace cache {
class BlobStore;
}
}  // namespace kiln

namespace kiln::client {

struct Connection;

class CacheCalls {
 public:
  // Its rows and its content. The client and the clock must outlive it.
  std::unique_ptr<cache::BlobStore> CacheStore(Clock& clock);

  Result<CacheStats> CacheStatistics();
  struct GcRequest {
    uint64_t to_bytes = 0;  // 0: the low mark, if nothing else is asked for
    uint64_t older_than_s = 0;
    bool failed = false, vacuum = false, dry_run = false;
  };
  using OnFinding = std::function<void(const std::string& text)>;
  Result<MaintenanceDone> GcCache(const GcRequest& request);
  using OnBytes = std::function<void(uint64_t done, uint64_t total)>;
  Result<MaintenanceDone> VerifyCache(bool fast, uint32_t sample_percent, const OnFinding& on,
                                      const OnBytes& on_bytes = {});
  Result<MaintenanceDone> RepairCache(const OnFinding& on);
  // Gives the number of records. `until_s`: Unix, 0 for ever. Errors: kAlreadyExists,
  // kNotFound, kResourceExhausted.
  Result<uint64_t> Pin(const std::string& name, std::span<const std::string> keys, uint64_t until_s,
                       const std::string& note);
  Result<void> Unpin(const std::string& name);  // errors: kNotFound
  Result<std::vector<PinnedSet>> Pins();

 protected:
  explicit CacheCalls(Connection& connection) : connection_(connection) {}
  ~CacheCalls() = default;

 private:
  Connection& connection_;
};

}  // namespace kiln::client
