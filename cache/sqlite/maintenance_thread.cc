// SPDX-License-Identifier: MIT
// What a store does by itself: it flushes access times, watches for damage and full disks, and
// replaces a file that is beyond repair. See spec/cache 6.7, 6.10, 6.11.
#include <algorithm>
#include <limits>
#include <set>
#include <sys/statvfs.h>
#include <utility>

#include "cache/sqlite/header_repair.h"
#include "cache/sqlite/salvage.h"
#include "cache/sqlite/sqlite_store.h"

namespace kiln::cache::sqlite {
namespace {

constexpr Duration kTick = std::chrono::seconds(30);
constexpr Duration kFullPause = std::chrono::seconds(30);
// Counting takes at most a hundredth of a core.
constexpr Duration kCountPause = std::chrono::seconds(5);
constexpr int kCountShare = 100;

}  // namespace

Writer::Hooks SqliteStore::MakeHooks() {
  return {.on_failure = [this](const Error& error) { WriteFailed(error); },
          .background = [this](TableWrites& writes) { return collector_.Slice(writes); }};
}

namespace {

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

Result<void> SqliteStore::OpenSession() {
  const std::set<std::string> damaged_before = DamagedFiles(session_options_.file.dir);
  Result<std::shared_ptr<Session>> opened =
      owned_ ? Session::OpenOwned(session_options_, clock_, log_, counters_, MakeHooks())
             : Session::OpenReadOnly(session_options_, clock_);
  if (!opened.ok()) {
    return std::move(opened).error();
  }
  {
    const MutexLock lock(mutex_);
    session_ = *std::move(opened);
    for (const std::string& name : DamagedFiles(session_options_.file.dir)) {
      if (owned_ && !damaged_before.contains(name)) {  // it could not be opened
        unsalvaged_ = name;
      }
    }
  }
  MeasureAside();
  dictionaries_.Forget();
  if (owned_) {  // who only reads compresses nothing
    dictionaries_.Load();
  }
  return {};
}

void SqliteStore::WriteFailed(const Error& error) {
  if (error.code == ErrorCode::kFull) {
    const int64_t until = (clock_.Monotonic() + kFullPause).count();
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

void SqliteStore::Judge(const Error& error) {
  Task task = Task::kNone;
  switch (watch_.Judge(error)) {
    case DamagePolicy::Verdict::kNothing:
      return;
    case DamagePolicy::Verdict::kCheck:
      task = Task::kCheck;
      break;
    case DamagePolicy::Verdict::kReplace:
      task = Task::kReplace;
      break;
    case DamagePolicy::Verdict::kReplaceUnsalvaged:
      task = Task::kReplaceUnsalvaged;
      break;
  }
  ++counters_.damage[static_cast<size_t>(DamageKind::kDatabase)];
  log_.Write(LogLevel::kWarning, "cache", "the database is damaged", {{"error", ErrorText(error)}});
  const MutexLock lock(mutex_);
  task_ = std::max(task_, task);
  changed_.NotifyAll();
}

void SqliteStore::Care() {
  Duration next_tick = clock_.Monotonic() + kTick;
  for (;;) {
    Task task = Task::kNone;
    {
      const MutexLock lock(mutex_);
      if (task_ == Task::kNone && unsalvaged_.empty() && !stopping_) {
        changed_.WaitFor(mutex_, std::chrono::seconds(1));
      }
      if (stopping_) {
        return;
      }
      task = owned_ ? std::exchange(task_, Task::kNone) : Task::kNone;
    }
    switch (task) {
      case Task::kNone:
        break;
      case Task::kCheck:
        CheckDatabase();
        break;
      case Task::kReplace:
      case Task::kReplaceUnsalvaged:
        ReplaceDatabase(task);
        break;
    }
    SalvageUnopened();
    CountIfAsked();
    if (Current() == nullptr) {
      Reopen();  // once a second: until then every request is a miss
    } else if (clock_.Monotonic() >= next_tick) {
      next_tick = clock_.Monotonic() + kTick;
      Tick();
    }
  }
}

void SqliteStore::Reopen() {
  const Result<void> opened = Start();
  if (opened.ok()) {
    full_until_ns_ = 0;
    log_.Write(LogLevel::kInfo, "cache", "the database is open again");
  } else if (opened.error().code == ErrorCode::kFull) {
    WriteFailed(opened.error());
  }
}

void SqliteStore::Tick() {
  if (!owned_) {
    return;
  }
  static_cast<void>(Flush());
  StartAgeing();
  StartScan();
  Reverify(kTick);
  dictionaries_.Load();  // one that was lost is not used any more
  TrainIfDue();
}

Result<std::vector<TrainedDictionary>> SqliteStore::Train() {
  return TrainDictionaries(*this, dictionaries_, stop_.get_token());
}

void SqliteStore::TrainIfDue() {
  {
    Result<ReaderPool::Loan> reader = Read({});
    const Result<bool> due = reader.ok() ? TrainingIsDue(reader->connection()) : reader.error();
    if (!due.ok() || !*due) {
      return;
    }
  }
  const Result<std::vector<TrainedDictionary>> trained = Train();
  for (const TrainedDictionary& dictionary :
       trained.ok() ? *trained : std::vector<TrainedDictionary>()) {
    log_.Write(LogLevel::kInfo, "cache", "trained a dictionary",
               {{"kind", ContentKindName(dictionary.kind)},
                {"number", uint64_t{dictionary.number}},
                {"before_bytes", dictionary.before_bytes},
                {"after_bytes", dictionary.after_bytes}});
  }
}

std::optional<RecordCounts> SqliteStore::Records() {
  const MutexLock lock(mutex_);
  count_asked_ = true;
  return records_;
}

void SqliteStore::CountIfAsked() {
  const Duration start = clock_.Monotonic();
  {
    const MutexLock lock(mutex_);
    if (!count_asked_ || start < next_count_) {
      return;
    }
    count_asked_ = false;
  }
  Result<ReaderPool::Loan> reader = Read({});
  const Result<RecordCounts> counts = reader.ok()
                                          ? CountRecords(reader->connection(), stop_.get_token())
                                          : Result<RecordCounts>(reader.error());
  const Duration end = clock_.Monotonic();
  const MutexLock lock(mutex_);
  records_ = counts.ok() ? std::optional(*counts) : std::nullopt;
  next_count_ = end + std::max(kCountPause, (end - start) * kCountShare);
}

// Rows that nobody asks for are verified, too: damage is found while an upstream or a source can
// still repair it (spec/cache 6.11).
void SqliteStore::Reverify(Duration passed) {
  Result<ReaderPool::Loan> reader = Read({});
  if (!reader.ok()) {
    return;
  }
  for (const Damage& damage : scrubber_.Run(reader->connection(), **reader, passed)) {
    Report(damage);
  }
}

// Reads the whole file; the answer decides whether it stays.
void SqliteStore::CheckDatabase() {
  Result<Connection> connection = OpenReader(session_options_.file);
  const Result<std::string> verdict = connection.ok()
                                          ? connection->QueryText("PRAGMA quick_check(1)")
                                          : Result<std::string>(connection.error());
  if (verdict.ok() && *verdict == "ok") {
    return;
  }
  log_.Write(LogLevel::kError, "cache", "the database does not pass quick_check",
             {{"finding", verdict.ok() ? *verdict : ErrorText(verdict.error())}});
  ReplaceDatabase(Task::kReplace);
}

void SqliteStore::ReplaceDatabase(Task task) {
  std::shared_ptr<Session> old;
  {
    const MutexLock lock(mutex_);
    old = std::exchange(session_, nullptr);
  }
  if (old != nullptr) {
    old->Close();
  }
  const std::string name = FreeCorruptName(session_options_.file.dir);
  const Result<void> aside = SetAside(session_options_.file.dir, name);
  const Result<void> opened = aside.ok() ? OpenSession() : aside;
  watch_.Reset();
  {
    const MutexLock lock(mutex_);
    task_ = Task::kNone;  // what was reported since then was about the old file
  }
  log_.Write(
      LogLevel::kError, "cache",
      opened.ok() ? "the database was replaced by an empty one" : "the cache has no database",
      {{"set_aside", name + ".db"},
       {"error", opened.ok() ? std::string() : ErrorText(opened.error())}});
  if (opened.ok() && task == Task::kReplace) {
    Salvage(name);
  }
  const MutexLock lock(mutex_);
  ++replacements_;
  last_set_aside_ = name + ".db";
  changed_.NotifyAll();
}

Result<std::string> SqliteStore::Rebuild() {
  if (!owned_) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = "another process owns the cache",
                 .reason = std::string(kReadOnly)};
  }
  const MutexLock lock(mutex_);
  const uint64_t before = replacements_;
  task_ = std::max(task_, Task::kReplace);
  changed_.NotifyAll();
  while (replacements_ == before && !stopping_) {
    changed_.WaitFor(mutex_, std::chrono::seconds(1));
  }
  if (session_ == nullptr) {
    return Error{
        .code = ErrorCode::kUnavailable, .context = "the cache has no database", .reason = {}};
  }
  return last_set_aside_;
}

void SqliteStore::Salvage(const std::string& name) {
  std::string file = (session_options_.file.dir / (name + ".db")).string();
  const std::filesystem::path apart = session_options_.file.dir / (name + ".salvage");
  std::string why;
  if (!options_.salvage_program.empty()) {
    if (!StartSalvage(options_.salvage_program, file, apart.string(), stop_.get_token())) {
      why = WhyNotSalvaged(apart);
      log_.Write(LogLevel::kWarning, "cache", "reading the damaged file ended early",
                 {{"from", file}, {"why", why}});
    }
    file = (apart / "cache.db").string();  // sound, as far as it came
  } else {
    Result<std::string> readable = MakeReadable(file, session_options_.file.vfs, apart, clock_);
    if (!readable.ok()) {
      log_.Write(LogLevel::kWarning, "cache", "the damaged file cannot be salvaged",
                 {{"from", file}, {"why", readable.error().context}});
    } else {
      file = *std::move(readable);
    }
  }
  const SalvageReport salvaged =
      SalvageInto(file, session_options_.file.vfs, *this, stop_.get_token());
  log_.Write(LogLevel::kWarning, "cache", "salvaged what verifies",
             {{"from", file},
              {"blobs", salvaged.blobs},
              {"records", salvaged.records},
              {"aliases", salvaged.aliases},
              {"pins", SalvagePins(file, session_options_.file.vfs, *this)}});
  std::error_code error;
  std::filesystem::remove_all(apart, error);
  MeasureAside();
}

void SqliteStore::SalvageUnopened() {
  std::string name;
  {
    const MutexLock lock(mutex_);
    name = unsalvaged_;
  }
  if (name.empty()) {
    return;
  }
  Salvage(name);
  const MutexLock lock(mutex_);
  unsalvaged_.clear();
  changed_.NotifyAll();
}

void SqliteStore::AwaitSalvage(const std::stop_token& stop) {
  const MutexLock lock(mutex_);
  while (!unsalvaged_.empty() && !stopping_ && !stop.stop_requested()) {
    changed_.WaitFor(mutex_, std::chrono::milliseconds(50));
  }
}

void SqliteStore::MeasureAside() {
  uint64_t bytes = 0;
  for (const QuarantinedFile& file : ListSetAside(session_options_.file.dir)) {
    bytes += file.bytes;
  }
  aside_bytes_ = bytes;
}

void SqliteStore::MakeRoomAside(uint64_t target_bytes) {
  std::vector<QuarantinedFile> files = ListSetAside(session_options_.file.dir);
  uint64_t aside = 0;
  for (const QuarantinedFile& file : files) {
    aside += file.bytes;
  }
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    const bool goes =
        file->damaged ? counters_.used_bytes + aside > target_bytes : aside > target_bytes / 2;
    if (goes) {
      RemoveSetAside(*file);
      aside -= file->bytes;
      log_.Write(LogLevel::kInfo, "cache", "a file that was set aside made room",
                 {{"file", file->path.string()}, {"bytes", file->bytes}});
    }
  }
  aside_bytes_ = aside;
}

uint64_t SqliteStore::FreeDiskBytes() const {
  struct statvfs info {};
  if (::statvfs(dir_.c_str(), &info) != 0) {
    return std::numeric_limits<uint64_t>::max();  // unknown is not full
  }
  return uint64_t{info.f_bavail} * info.f_frsize;
}

void SqliteStore::StartCollecting(uint64_t target_bytes) {
  const std::shared_ptr<Session> session = Current();
  if (session != nullptr && session->writer() != nullptr) {
    if (aside_bytes_ > 0) {
      MakeRoomAside(target_bytes);
    }
    collector_.Start(target_bytes - std::min<uint64_t>(target_bytes, aside_bytes_));
    session->writer()->Wake();
  }
}

void SqliteStore::StartVacuum() {
  const std::shared_ptr<Session> session = Current();
  if (session != nullptr && session->writer() != nullptr) {
    collector_.StartVacuum();
    session->writer()->Wake();
  }
}

void SqliteStore::StartScan() {
  const std::shared_ptr<Session> session = Current();
  if (session != nullptr && session->writer() != nullptr) {
    collector_.StartScan();
    session->writer()->Wake();
  }
}

void SqliteStore::StartAgeing() {
  const std::shared_ptr<Session> session = Current();
  if (options_.max_age_s > 0 && session != nullptr && session->writer() != nullptr) {
    collector_.StartAgeing();
    session->writer()->Wake();
  }
}

SqliteStatus SqliteStore::Status() const {
  const std::shared_ptr<Session> session = Current();
  SqliteStatus status{.read_only = !owned_ && session != nullptr,
                      .open = session != nullptr,
                      .full = clock_.Monotonic().count() < full_until_ns_,
                      .collisions = counters_.collisions,
                      .nondeterminism = counters_.nondeterminism,
                      .groups = counters_.groups,
                      .grouped_requests = counters_.grouped_requests,
                      .commit_us = counters_.commit_us,
                      .refused_full = counters_.refused_full,
                      .evicted = counters_.evicted,
                      .aged = counters_.aged,
                      .wal_bytes = counters_.wal_bytes,
                      .used_bytes = counters_.used_bytes};
  if (status.read_only) {
    status.owner = FindOwner(dir_);
  }
  for (size_t i = 0; i < kDamageKindCount; ++i) {
    status.damage[i] = counters_.damage[i];
  }
  return status;
}

}  // namespace kiln::cache::sqlite
