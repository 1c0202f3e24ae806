// SPDX-License-Identifier: MIT
// The store as a whole, as far as calls of operators and other daemons see it.
#pragma once

#include <functional>

#include "cache/decorators/metrics_store.h"
#include "cache/decorators/upload_store.h"
#include "cache/leases/held_leases.h"
#include "cache/leases/leases.h"
#include "cache/maintenance.h"

namespace kiln::rpc {

// Everything outlives the services. The first two are null if there is no database.
struct StoreAdmin {
  cache::Maintenance* maintenance = nullptr;
  cache::Pins* pins = nullptr;
  cache::UploadStore& uploads;
  cache::HeldLeases& held;  // for the time of a call
  const cache::MetricsStore& metrics;
  std::function<uint64_t()> memory_bytes;
  std::function<void()> forget;  // what this process remembers of rows that may be gone now
  bool has_upstream = false;
  bool writes_upstream = false;  // to one of them at least
  uint64_t max_bytes = 0;
  uint64_t low_bytes = 0;  // collection goes down to it
};

}  // namespace kiln::rpc
