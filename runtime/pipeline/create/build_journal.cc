// SPDX-License-Identifier: MIT
#include "runtime/pipeline/create/build_journal.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace kiln::runtime {
namespace {

// As in PNG, the first byte is no ASCII and the last is a line feed, so a file that was changed on
// its way as a text is not taken for a journal.
constexpr std::array<uint8_t, 8> kMagic{0x89, 0x4B, 0x49, 0x4C, 0x4E, 0x4A, 0x4E, 0x0A};
constexpr size_t kHeaderBytes = 16;
constexpr size_t kKeyBytes = 16;
constexpr uint32_t kSlots = 256;  // in the file, whatever a run uses
constexpr size_t kFileBytes = kHeaderBytes + kKeyBytes * (kSlots + BuildJournal::kMaxKeys);

// Without a journal the run goes on as before: it only cannot tell the next one what killed it.
// Therefore a journal that cannot be opened is a warning and no error.
std::unique_ptr<BuildJournal> Refuse(const CacheFolder& folder, const std::string& path,
                                     std::string_view why) {
  folder.log->Write(LogLevel::kWarning, "build_journal",
                    "pipelines that kill this run are not noted", {{"file", path}, {"why", why}});
  return nullptr;
}

}  // namespace

std::unique_ptr<BuildJournal> BuildJournal::Open(const CacheFolder& folder, const Hash128& identity,
                                                 uint32_t slots) {
  const std::string path = fmt::format("{}/{}.journal", folder.path, identity.hex());
  // The folder may lie where others can write, so a link is not followed and the file is checked
  // below by its descriptor, which nobody can exchange any more.
  FileLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  const int file = lock.file();
  if (file < 0) {
    return Refuse(folder, path, std::strerror(errno));
  }
  struct stat info {};
  // Asked of the open file, which nobody can exchange any more.
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
      (info.st_mode & 022) != 0) {
    return Refuse(folder, path, "it is not a file that only this user can write");
  }
  // A second process with the same identity would write into the slots of the first, so it goes
  // without a journal instead.
  if (!lock.Try()) {
    return Refuse(folder, path, "another process uses it");
  }
  // The file has its full length from the beginning, so that a write to the mapping can never hit a
  // page without a file behind it.
  if (slots > kSlots || ftruncate(file, static_cast<off_t>(kFileBytes)) != 0) {
    return Refuse(folder, path, "there is no room for it");
  }
  // A shared mapping is what makes the journal work: the kernel keeps the pages of a process that
  // was killed, and no call is needed between the note and the driver.
  void* const mapped = mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    return Refuse(folder, path, std::strerror(errno));
  }
  std::unique_ptr<BuildJournal> out(new BuildJournal(
      path, std::move(lock), {static_cast<std::byte*>(mapped), kFileBytes}, slots));
  out->ReadBack();
  return out;
}

BuildJournal::~BuildJournal() {
  // The kernel writes the pages whenever it likes; nothing has to be saved here.
  munmap(mapped_.data(), mapped_.size());
}

// The row is written before the count that makes it valid.
void BuildJournal::Add(const Hash128& key) {
  const auto count = static_cast<uint32_t>(dead_.size());
  // A full list takes no more: so many dead pipelines mean that something else is wrong.
  if (count == kMaxKeys || !dead_.insert(key).second) {
    return;
  }
  std::byte* const row = mapped_.data() + kHeaderBytes + kKeyBytes * (kSlots + size_t{count});
  std::memcpy(row, key.bytes.data(), kKeyBytes);
  const uint32_t after = count + 1;
  std::memcpy(mapped_.data() + 12, &after, sizeof(after));
}

// Keys that an ended run left in its slots join the list.
void BuildJournal::ReadBack() {
  const MutexLock lock(mutex_);
  // Whatever is not exactly this format is cleared. The journal is a precaution, and losing an old
  // one is better than quarantining pipelines for the noise of a damaged file.
  if (std::memcmp(mapped_.data(), kMagic.data(), kMagic.size()) != 0 ||
      ReadLittle<uint32_t>(mapped_, 8) != kSlots || ReadLittle<uint32_t>(mapped_, 12) > kMaxKeys) {
    std::memset(mapped_.data(), 0, mapped_.size());
    std::memcpy(mapped_.data(), kMagic.data(), kMagic.size());
    std::memcpy(mapped_.data() + 8, &kSlots, sizeof(kSlots));
    return;
  }
  // Slots and list are one array of keys, the slots in front.
  const auto key_at = [&](size_t index) {
    Hash128 key;
    std::memcpy(key.bytes.data(), mapped_.data() + kHeaderBytes + kKeyBytes * index, kKeyBytes);
    return key;
  };
  const uint32_t count = ReadLittle<uint32_t>(mapped_, 12);
  // A set, so that one key that ended two runs is listed once and the list has the same order
  // however the slots were filled.
  std::set<Hash128> listed;
  for (uint32_t i = 0; i < count; ++i) {
    listed.insert(key_at(kSlots + size_t{i}));
  }
  for (uint32_t i = 0; i < kSlots; ++i) {
    if (const Hash128 key = key_at(i); !key.zero()) {
      listed.insert(key);
    }
  }
  // Everything behind the magic and the number of slots is rewritten: the slots are free again, and
  // their keys are in the list now.
  std::memset(mapped_.data() + 12, 0, mapped_.size() - 12);
  for (const Hash128& key : listed) {
    Add(key);
  }
}

// Each worker has a slot of its own, so no lock is taken on the way to the driver. A fence of the
// compiler is enough, because the reader is another process that runs after this one has ended.
void BuildJournal::Begin(uint32_t slot, const Hash128& key) {
  std::memcpy(mapped_.data() + kHeaderBytes + kKeyBytes * slot, key.bytes.data(), kKeyBytes);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // before the driver is called
}

// The fence keeps the compiler from clearing the slot before the driver has come back.
void BuildJournal::End(uint32_t slot) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memset(mapped_.data() + kHeaderBytes + kKeyBytes * slot, 0, kKeyBytes);
}

bool BuildJournal::Died(const Hash128& key) const {
  const MutexLock lock(mutex_);
  return dead_.contains(key);
}

void BuildJournal::Quarantine(const Hash128& key) {
  const MutexLock lock(mutex_);
  Add(key);
}

}  // namespace kiln::runtime
