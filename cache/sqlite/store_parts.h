// SPDX-License-Identifier: MIT
// What the faces and the threads of one SqliteStore share. Each part is safe from any thread; which
// of them a class uses, it says by naming it.
#pragma once

#include "cache/sqlite/access_times.h"
#include "cache/sqlite/aside_files.h"
#include "cache/sqlite/collector.h"
#include "cache/sqlite/counters.h"
#include "cache/sqlite/current_session.h"
#include "cache/sqlite/dictionaries.h"
#include "cache/sqlite/file_health.h"
#include "cache/sqlite/maintenance_orders.h"
#include "cache/sqlite/sqlite_options.h"
#include "compiler/base/clock.h"
#include "compiler/base/log.h"

namespace kiln::cache::sqlite {

// Raw blocks that readers keep together.
inline constexpr uint64_t kBlockCacheBytes = uint64_t{16} << 20;

struct StoreParts {
  // Requires: clock and log outlive the parts.
  StoreParts(const SqliteOptions& opened_with, Clock& a_clock, LogSink& a_log)
      : options(opened_with), clock(a_clock), log(a_log) {}

  // Writes what was touched and waits until everything queued before is on disk.
  Result<void> Flush();

  const SqliteOptions options;
  Clock& clock;
  LogSink& log;
  Counters counters;
  AccessTimes access_times;
  MaintenanceOrders orders;
  AsideFiles aside{log};
  FileHealth health{clock, log, counters, orders};
  Collector collector{access_times, clock, counters, options.max_age_s};
  BlockCache blocks{"blocks of the store", {.bytes = kBlockCacheBytes}};
  CurrentSession session{clock};
  Dictionaries dictionaries{session};
};

}  // namespace kiln::cache::sqlite
