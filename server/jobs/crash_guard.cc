// SPDX-License-Identifier: MIT
#include "server/jobs/crash_guard.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/base/digest.h"
#include "compiler/base/hash/checksum.h"
#include "compiler/base/threads/stop.h"

namespace kiln::jobs {
namespace {

static_assert(std::endian::native == std::endian::little);
// The rows are memory that is written as it is: a machine of the other byte order would need
// conversions.
constexpr uint64_t kMagic = 0x3154'5441'4E4C'494B;  // "KILNATT1"

// How often a call that waits for its turn checks whether it is still wanted.
constexpr Duration kLookEvery = std::chrono::milliseconds(20);

// Rows are read by another process after this one is gone: in the order in which they are written.
using Word = std::atomic_ref<uint64_t>;

struct Id {
  uint64_t low = 0, high = 0;
};

Id IdOf(const Hash128& hash) {
  Id id;
  std::memcpy(&id.low, hash.bytes.data(), sizeof(id.low));
  std::memcpy(&id.high, hash.bytes.data() + sizeof(id.low), sizeof(id.high));
  return id;
}

Hash128 HashOf(const Id& id) {
  Hash128 hash;
  std::memcpy(hash.bytes.data(), &id.low, sizeof(id.low));
  std::memcpy(hash.bytes.data() + sizeof(id.low), &id.high, sizeof(id.high));
  return hash;
}

// The head of a row: what it says in its low half, and the check of all of the row above it.
uint64_t HeadOf(uint32_t says, const Id& id, uint64_t at) {
  const std::array<uint64_t, 4> all = {says, id.low, id.high, at};
  const uint64_t check = IdOf(Checksum(std::as_bytes(std::span(all)))).low;
  return check << 32 | says;
}

// The level of a key that may be poisoned; nothing for any other number.
std::optional<cache::Level> LevelOf(uint64_t number) {
  for (const cache::Level level : {cache::Level::kModule, cache::Level::kSignature}) {
    if (static_cast<uint64_t>(level) == number) {
      return level;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<CrashGuard>> CrashGuard::Open(const std::string& path, int64_t now_s,
                                                     int64_t keep_s) {
  const auto failed = [&] {
    return Error{.code = ErrorCode::kUnavailable,
                 .context = "'" + path + "': " + std::strerror(errno),
                 .reason = {}};
  };
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0) {
    return failed();
  }
  struct stat found {};
  // A file of another size is no file of this version and is emptied. Whether its content makes
  // sense is asked row by row, in Read.
  bool ok = ::fstat(fd, &found) == 0;
  if (ok && found.st_size != static_cast<off_t>(sizeof(File))) {
    ok = ::ftruncate(fd, 0) == 0;
  }
  // Allocates all pages now: a page that is missing later would end the process.
  errno = ok ? ::posix_fallocate(fd, 0, sizeof(File)) : errno;
  void* const mapped =
      errno == 0 ? ::mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                 : MAP_FAILED;
  // The mapping outlives the descriptor, and its pages are in the file whatever ends the process.
  (void)::close(fd);
  if (mapped == MAP_FAILED) {
    return failed();
  }
  std::unique_ptr<CrashGuard> attempts(
      new CrashGuard(*std::launder(static_cast<File*>(mapped)), now_s));
  const MutexLock lock(attempts->mutex_);
  attempts->Read(keep_s);
  return attempts;
}

CrashGuard::~CrashGuard() {
  Leave();
  (void)::munmap(&file_, sizeof(File));
}

// From here on the rows of what runs say nothing: a daemon that was asked to end may be killed
// while jobs still run, and they are not to blame for that.
void CrashGuard::Leave() { Word(file_.working).store(0, std::memory_order_release); }

// Keeps earlier failures and adds one attempt for what ran; then nothing runs. The file is what a
// process that died left behind, possibly in the middle of a write: a row counts if its check fits,
// and a row that does not is as good as empty. `working` tells a crash from an end: a daemon that
// ended in order has set it to zero, so its rows say nothing.
void CrashGuard::Read(int64_t keep_s) {
  // A file that is new, or that something else wrote, begins empty.
  if (file_.magic != kMagic) {
    std::memset(static_cast<void*>(&file_), 0, sizeof(File));
    file_.magic = kMagic;
  }
  const auto key_of = [](const Row& row, cache::Level level) {
    return cache::Key{.level = level, .space = 0, .id = HashOf({.low = row.id0, .high = row.id1})};
  };
  const auto holds = [](const Row& row) {
    return row.head != 0 &&
           row.head == HeadOf(static_cast<uint32_t>(row.head), {row.id0, row.id1}, row.at);
  };
  // Failures of earlier runs come first, so that the attempts of this one add up to them. A row
  // from the future counts for nothing: a clock that was set back must not make an input poison for
  // years.
  for (const Row& row : file_.failed) {
    const std::optional<cache::Level> level = LevelOf(row.head & 0xFF);
    const auto attempts = static_cast<uint32_t>(row.head >> 8 & 0xFF);
    const auto at_s = static_cast<int64_t>(row.at);
    if (holds(row) && level.has_value() && attempts != 0 && at_s <= now_s_ &&
        now_s_ - at_s < keep_s) {
      suspects_[key_of(row, *level)] = {.attempts = std::min(attempts, kMost), .at_s = at_s};
    }
  }
  // Then what ran when the process died. A key that several threads had at the same time has had
  // one attempt all the same.
  for (const Row& row : file_.running) {
    const std::optional<cache::Level> level = LevelOf(row.head & 0xFF);
    if (file_.working == 0 || !holds(row) || !level.has_value()) {
      continue;
    }
    const cache::Key key = key_of(row, *level);
    if (std::ranges::find(found_, key, &InterruptedInput::key) == found_.end()) {
      Suspect& suspect = suspects_[key];
      suspect = {.attempts = std::min(suspect.attempts + 1, kMost), .at_s = now_s_};
      found_.push_back({.key = key, .attempts = suspect.attempts});
    }
  }
  // The failures are written before the rows of what ran are emptied. A crash between the two
  // counts an attempt twice, and never loses one.
  WriteSuspects();
  file_.running = {};
  Word(file_.working).store(1, std::memory_order_release);
}

// Keeps the latest ones if there are more than rows.
void CrashGuard::WriteSuspects() {
  std::vector<std::pair<cache::Key, Suspect>> rows(suspects_.begin(), suspects_.end());
  // The key decides between failures of the same second, so that the choice does not depend on the
  // order of a hash table.
  std::ranges::sort(rows, [](const auto& a, const auto& b) {
    return std::pair(-a.second.at_s, a.first) < std::pair(-b.second.at_s, b.first);
  });
  for (size_t i = kRows; i < rows.size(); ++i) {
    suspects_.erase(rows[i].first);
  }
  rows.resize(std::min(rows.size(), kRows));
  file_.failed = {};
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto& [key, suspect] = rows[i];
    const Id id = IdOf(key.id);
    const auto at = static_cast<uint64_t>(suspect.at_s);
    const uint32_t says = suspect.attempts << 8 | static_cast<uint32_t>(key.level);
    file_.failed[i] = {.head = HeadOf(says, id, at), .id0 = id.low, .id1 = id.high, .at = at};
  }
  suspect_count_.store(suspects_.size(), std::memory_order_release);
}

bool CrashGuard::IsPoisoned(const cache::Key& key) {
  if (suspect_count_.load(std::memory_order_acquire) == 0) {
    return false;
  }
  const MutexLock lock(mutex_);
  const auto found = suspects_.find(key);
  return found != suspects_.end() && found->second.attempts >= kMost;
}

// Attempts of inputs that are slow are only in memory until the last one: they ended no process, so
// the file need not know of them. The oldest make room, because a sender chooses how many there
// are.
bool CrashGuard::Fail(const cache::Key& key) {
  const MutexLock lock(mutex_);
  uint32_t* attempts = slow_.Find(key);
  if (attempts == nullptr) {
    if (slow_.size() >= kRows) {
      slow_.DropOldest();
    }
    attempts = &slow_.Add(key, 0, 0);
  }
  if (++*attempts < kMost) {
    return false;
  }
  slow_.Erase(key);
  suspects_[key] = {.attempts = kMost, .at_s = now_s_};
  WriteSuspects();
  return true;
}

// An input that was running when a process died is a suspect, and so were its neighbours, of which
// at most one is to blame. So suspects run alone: if the process dies again, nobody else is
// accused. As long as there is none, which is nearly always, this is one atomic load.
CrashGuard::Running::EntryMode CrashGuard::Enter(const cache::Key& key) {
  if (suspect_count_.load(std::memory_order_acquire) == 0) {
    return Running::EntryMode::kFree;
  }
  const MutexLock lock(mutex_);
  const auto found = suspects_.find(key);
  if (found == suspects_.end()) {
    // Suspects have the right of way. Otherwise a busy daemon would never come to a moment in which
    // nothing else runs.
    while (alone_ || waiting_alone_ != 0) {
      CheckStop();
      (void)changed_.WaitFor(mutex_, kLookEvery);
    }
    ++together_;
    return Running::EntryMode::kTogether;
  }
  if (found->second.attempts >= kMost) {
    found->second.attempts = 0;  // until it fails once more it counts for nothing
    WriteSuspects();
  }
  // A guard, because CheckStop throws out of the wait: a count that stayed would block everybody
  // else for ever.
  struct Waiting {
    uint32_t& count;
    explicit Waiting(uint32_t& of) : count(of) { ++count; }
    ~Waiting() { --count; }
  };
  {
    const Waiting waiting(waiting_alone_);
    while (alone_ || together_ != 0) {
      CheckStop();
      (void)changed_.WaitFor(mutex_, kLookEvery);
    }
  }
  alone_ = true;
  return Running::EntryMode::kAlone;
}

void CrashGuard::Exit(const cache::Key& key, Running::EntryMode entered) {
  if (entered == Running::EntryMode::kFree) {
    return;
  }
  const MutexLock lock(mutex_);
  if (entered == Running::EntryMode::kTogether) {
    --together_;
  } else {
    // What ran beside others has not been alone and must not end the turn of one that is. Its
    // success clears it all the same.
    alone_ = alone_ && entered != Running::EntryMode::kAlone;
    if (suspects_.erase(key) != 0) {
      WriteSuspects();
    }
  }
  changed_.NotifyAll();
}

// One row per running input, in memory that is shared with the file: the kernel keeps it when the
// process dies, so nothing needs to be flushed. The head is written last and makes the row valid.
// Threads have a row of their own as a rule, so they do not meet on a cache line. If there is no
// free row the input is not noted, which only means that it cannot be blamed.
size_t CrashGuard::Note(const cache::Key& key) {
  static std::atomic<size_t> threads = 0;
  thread_local size_t mine = threads.fetch_add(1) % kRows;  // as a rule nobody else's
  for (size_t i = 0; i < kRows; ++i) {
    const size_t row = (mine + i) % kRows;
    // The thread that sets the mark owns the row until Forget clears it, so the stores below meet
    // no other writer.
    if (!taken_.at(row).exchange(true, std::memory_order_acquire)) {
      mine = row;
      const Id id = IdOf(key.id);
      Row& to = file_.running.at(row);
      Word(to.id0).store(id.low, std::memory_order_relaxed);
      Word(to.id1).store(id.high, std::memory_order_relaxed);
      Word(to.head).store(HeadOf(static_cast<uint32_t>(key.level), id, 0),
                          std::memory_order_release);
      return row;
    }
  }
  return kRows;
}

void CrashGuard::Forget(size_t row) {
  if (row < kRows) {
    // The row is invalid before it is free: a new owner must not have its key taken for one that
    // already runs.
    Word(file_.running.at(row).head).store(0, std::memory_order_release);
    taken_.at(row).store(false, std::memory_order_release);
  }
}

CrashGuard::Running::Running(CrashGuard* attempts, const cache::Key& key, Place place)
    : attempts_(attempts), key_(key) {
  if (attempts_ != nullptr) {
    entered_ = place == Place::kBesideOthers ? EntryMode::kBeside : attempts_->Enter(key_);
    row_ = attempts_->Note(key_);
  }
}

CrashGuard::Running::~Running() {
  if (attempts_ != nullptr) {
    attempts_->Forget(row_);
    attempts_->Exit(key_, entered_);
  }
}

}  // namespace kiln::jobs
