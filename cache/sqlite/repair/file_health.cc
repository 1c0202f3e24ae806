// SPDX-License-Identifier: MIT
// What failing reads and writes say about the file, and what is ordered because of it
// (spec/cache 6.7). Any thread calls it; the orders are carried out by the maintenance thread.
#include "cache/sqlite/repair/file_health.h"

#include "cache/sqlite/connection.h"

namespace kiln::cache::sqlite {
namespace {

constexpr Duration kFullPause = std::chrono::seconds(30);

Order OrderFor(DamagePolicy::Verdict verdict) {
  switch (verdict) {
    case DamagePolicy::Verdict::kNothing:
      return Order::kNone;
    case DamagePolicy::Verdict::kCheck:
      return Order::kCheck;
    case DamagePolicy::Verdict::kReplace:
      return Order::kReplace;
    case DamagePolicy::Verdict::kReplaceUnsalvaged:
      return Order::kReplaceUnsalvaged;
  }
  KILN_UNREACHABLE();
}

}  // namespace

// Every failed read becomes a miss here (spec/cache 1.3). What it tells about the file goes to the
// policy, which decides over several of them.
Error FileHealth::ReadFailed(const Key& key, const Error& error) {
  if (error.reason == kIoError) {
    ++counters_.damage[static_cast<size_t>(DamageKind::kIo)];
    log_.Write(LogLevel::kWarning, "cache", "read failed",
               {{"key", KeyText(key)}, {"error", ErrorText(error)}});
  }
  Judge(error);
  return {.code = ErrorCode::kNotFound,
          .context = KeyText(key) + " could not be read: " + error.context};
}

// A full disk is said once for each pause, however many groups of writes meet it.
void FileHealth::WriteFailed(const Error& error) {
  if (error.code == ErrorCode::kFull) {
    const int64_t until = (clock_.Monotonic() + kFullPause).count();
    // While the time runs puts are refused without being tried: each would fail after having
    // written for a while.
    if (full_until_ns_.exchange(until) < clock_.Monotonic().count()) {
      log_.Write(LogLevel::kWarning, "cache", "the disk is full; results are not stored",
                 {{"error", ErrorText(error)}});
    }
    return;
  }
  log_.Write(LogLevel::kWarning, "cache", "write failed", {{"error", ErrorText(error)}});
  if (error.reason != kIoError) {  // only failing reads tell that the file cannot be used
    Judge(error);
  }
}

// Most errors lead to no order: a single wrong row is a matter of that row.
void FileHealth::Judge(const Error& error) {
  const Order order = OrderFor(policy_.Judge(error));
  if (order == Order::kNone) {
    return;
  }
  ++counters_.damage[static_cast<size_t>(DamageKind::kDatabase)];
  log_.Write(LogLevel::kWarning, "cache", "the database is damaged", {{"error", ErrorText(error)}});
  orders_.Give(order);
}

}  // namespace kiln::cache::sqlite
