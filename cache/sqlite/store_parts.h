// SPDX-License-Identifier: MIT
// What the faces and the threads of one SqliteStore share. Each part is safe from any thread; which
// of them a class uses, it says by naming it.
#pragma once

#include "cache/leases/sent_content.h"
#include "cache/sqlite/counters.h"
#include "cache/sqlite/maintenance/collector.h"
#include "cache/sqlite/maintenance/maintenance_orders.h"
#include "cache/sqlite/repair/aside_files.h"
#include "cache/sqlite/repair/file_health.h"
#include "cache/sqlite/session/current_session.h"
#include "cache/sqlite/sqlite_options.h"
#include "cache/sqlite/tables/access_times.h"
#include "cache/sqlite/tables/dictionaries.h"
#include "compiler/base/clock.h"
#include "compiler/base/log.h"

namespace kiln::cache::sqlite {

// Raw blocks that readers keep together.
inline constexpr uint64_t kBlockCacheBytes = uint64_t{16} << 20;

// Shares of a store without one.
inline constexpr uint64_t kNoBound = uint64_t{1} << 60;

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
  SentContent sent{options.sent_bytes, kGraceSeconds};
  // Records by whom they were made for, for when they must go young (record_room.h).
  SentContent records{options.max_bytes == 0 ? kNoBound : options.max_bytes, 0};
  uint32_t records_added = 0;  // since their number was bounded; the writer thread's
  MaintenanceOrders orders;
  AsideFiles aside{log};
  FileHealth health{clock, log, counters, orders};
  Collector collector{access_times, sent, clock, counters, options.max_age_s};
  BlockCache blocks{"blocks of the store", {.bytes = kBlockCacheBytes}};
  CurrentSession session{clock};
  Dictionaries dictionaries{session};
};

}  // namespace kiln::cache::sqlite
