// SPDX-License-Identifier: MIT
// The file of a store over its life: taking the folder, opening a session, replacing the file.
// It is started when the store is opened, and afterwards the maintenance thread alone starts it
// again or replaces the file.
#include "cache/sqlite/store_file.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace kiln::cache::sqlite {
namespace {

// "Cores" are those that the machine reports; 16 bounds the memory of page caches.
uint32_t ReaderCount(uint32_t wanted) {
  // More readers than twice the cores only queue for the disk.
  return wanted != 0 ? wanted
                     : std::min(16u, 2 * std::max(1u, std::thread::hardware_concurrency()));
}

std::set<std::string> DamagedFiles(const std::filesystem::path& dir) {
  std::set<std::string> names;
  for (const QuarantinedFile& file : ListSetAside(dir)) {
    if (file.damaged) {
      names.insert(file.path.stem().string());
    }
  }
  return names;
}

}  // namespace

StoreFile::StoreFile(StoreParts& parts)
    : parts_(parts),
      session_options_{.file = {.dir = parts.options.dir, .vfs = parts.options.vfs},
                       .readers = ReaderCount(parts.options.readers),
                       .blocks = &parts.blocks,
                       .writes = {.negative_ttl_s = parts.options.negative_ttl_s},
                       .writer = parts.options.writer} {}

// In this order: the folder is checked before a file is made in it, and the lock is taken before
// the database is opened for writing. Called again after a failure, it goes on where it stopped.
Result<void> StoreFile::Start() {
  KILN_TRY(session_options_.file.dir, PrepareDirectory(dir(), parts_.options.file_system_type));
  if (!owned_ && !parts_.options.read_only) {
    KILN_TRY_VOID(TakeLock());
  }
  return OpenSession();
}

// Without the lock the store is only read.
Result<void> StoreFile::TakeLock() {
  const std::filesystem::path& dir = session_options_.file.dir;
  Result<std::optional<OwnerLock>> lock = OwnerLock::TryTake(dir);
  if (!lock.ok() && lock.error().reason != kReadOnly) {
    return std::move(lock).error();
  }
  if (lock.ok() && lock->has_value()) {
    lock_.emplace(**std::move(lock));
    owned_ = true;
    return {};
  }
  const std::optional<pid_t> owner = FindOwner(dir);
  const std::string why =
      owner.has_value()
          ? "cache.lock in " + dir.string() + " is held by pid " + std::to_string(*owner)
          : "the cache directory " + dir.string() + " cannot be written";
  if (parts_.options.must_own) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = why,
                 .reason = std::string(owner.has_value() ? kLocked : kReadOnly)};
  }
  parts_.log.Write(LogLevel::kWarning, "cache", "the cache is only read", {{"why", why}});
  return {};
}

// Opening may set a damaged file aside on its own and go on with an empty one. Which that was shows
// in the directory: a damaged file that was not there before.
Result<void> StoreFile::OpenSession() {
  const std::filesystem::path& dir = session_options_.file.dir;
  const std::set<std::string> damaged_before = DamagedFiles(dir);
  Writer::Hooks hooks{
      .on_failure = [&health = parts_.health](const Error& error) { health.WriteFailed(error); },
      .background =
          [&collector = parts_.collector](TableWrites& writes) { return collector.Slice(writes); }};
  // Only an owner hears of every change of the file.
  session_options_.changes = owned_ ? &parts_.counters.changes : nullptr;
  KILN_TRY(std::shared_ptr<Session> opened,
           owned_ ? Session::OpenOwned(session_options_, parts_.clock, parts_.log, parts_.counters,
                                       std::move(hooks))
                  : Session::OpenReadOnly(session_options_, parts_.clock));
  for (const std::string& name : DamagedFiles(dir)) {
    if (owned_ && !damaged_before.contains(name)) {
      parts_.orders.GiveUnsalvaged(name);
    }
  }
  // Visible from here on. What was cached of the former file is dropped next; a read in between
  // verifies its sums like any other.
  static_cast<void>(parts_.session.Exchange(std::move(opened)));
  parts_.aside.Measure(dir);
  parts_.dictionaries.Forget();
  parts_.blocks.Clear();
  if (owned_) {  // who only reads compresses nothing
    parts_.dictionaries.Load();
  }
  return {};
}

}  // namespace kiln::cache::sqlite
