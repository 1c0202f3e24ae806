// SPDX-License-Identifier: MIT
#include "server/compile/pack/pack_shelf.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

#include "cache/pack/chain.h"
#include "cache/pack/errors.h"
#include "compiler/base/files/file.h"

namespace kiln::compile {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".kpack";
constexpr std::string_view kHalfDone = "build-";

Error Damaged(const std::string& text) {
  return {.code = ErrorCode::kDataLoss, .context = text, .reason = "DAMAGED"};
}

std::optional<Hash128> IdOf(const fs::path& file) {
  return file.extension() == kExtension ? ParseHash128(file.stem().string()) : std::nullopt;
}

// Size and time of the last change.
std::pair<uint64_t, int64_t> StampOf(const struct stat& status) {
  return {static_cast<uint64_t>(status.st_size),
          int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec};
}

struct Row {
  fs::path file;
  fs::file_time_type used;
};

// Packs of the directory, the one used least lately first.
std::vector<Row> RowsOf(const fs::path& dir) {
  std::vector<Row> rows;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (IdOf(it->path()).has_value()) {
      rows.push_back({.file = it->path(), .used = fs::last_write_time(it->path(), ignored)});
    }
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tie(a.used, a.file) < std::tie(b.used, b.file);
  });
  return rows;
}

}  // namespace

KeptPack::~KeptPack() { (void)::close(fd_); }

Result<std::string> KeptPack::Read(uint64_t offset, uint64_t size) const {
  std::string bytes(size, '\0');
  uint64_t done = 0;
  while (done < size) {
    const ssize_t got =
        ::pread(fd_, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return Damaged("the file of the pack cannot be read to its end; build it again");
    }
    done += static_cast<uint64_t>(got);
  }
  return bytes;
}

PackShelf::PackShelf(fs::path dir, size_t max_packs) : dir_(std::move(dir)), max_packs_(max_packs) {
  std::error_code error;
  std::vector<fs::path> left;
  for (fs::directory_iterator it(dir_, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with(kHalfDone)) {
      left.push_back(it->path());
    }
  }
  for (const fs::path& file : left) {
    fs::remove(file, error);
  }
}

fs::path PackShelf::PathOf(const Hash128& id) const {
  return dir_ / (id.hex() + std::string(kExtension));
}

Result<std::string> PackShelf::NewFile() {
  std::error_code error;
  fs::create_directories(dir_, error);
  if (error) {
    return FileError(dir_.string(), "cannot make", error.value());
  }
  fs::permissions(dir_, fs::perms::owner_all, error);
  const MutexLock lock(mutex_);
  return (dir_ / (std::string(kHalfDone) + std::to_string(next_file_++))).string();
}

Result<void> PackShelf::Keep(const std::string& file, const Hash128& id) {
  std::error_code error;
  const MutexLock lock(mutex_);
  fs::rename(file, PathOf(id), error);
  if (error) {
    fs::remove(file, error);
    return FileError(PathOf(id).string(), "cannot write", error.value());
  }
  fs::last_write_time(PathOf(id), fs::file_time_type::clock::now(), error);
  checked_.erase(id);
  Trim();
  return {};
}

bool PackShelf::HasInstead(const std::string& file, const Hash128& id) const {
  std::error_code error;
  fs::remove(file, error);
  return fs::exists(PathOf(id), error);
}

void PackShelf::Trim() {
  const std::vector<Row> rows = RowsOf(dir_);
  for (size_t i = 0; i + max_packs_ < rows.size(); ++i) {
    std::error_code error;
    fs::remove(rows[i].file, error);
  }
}

// Every byte is verified once; a file that changed since is verified again.
Result<void> PackShelf::Check(const Hash128& id) {
  struct stat status {};
  if (::stat(PathOf(id).c_str(), &status) != 0) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "no pack has the id " + id.hex() + "; build it again",
                 .reason = "UNKNOWN_PACK"};
  }
  const std::pair<uint64_t, int64_t> seen = StampOf(status);
  {
    const MutexLock lock(mutex_);
    if (const auto found = checked_.find(id); found != checked_.end() && found->second == seen) {
      return {};
    }
  }
  const Result<std::unique_ptr<pack::Pack>> opened = OpenPack(id);
  if (!opened.ok() && opened.error().reason != pack::kBaseMissing) {
    return opened.error();
  }
  if (opened.ok()) {  // of a delta without its base nothing more can be said
    if (const Result<void> sound = (*opened)->Verify(); !sound.ok()) {
      return Damaged(sound.error().context);
    }
    if ((*opened)->id() != id) {
      return Damaged("the file is another pack");
    }
  }
  const MutexLock lock(mutex_);
  checked_[id] = seen;
  return {};
}

Result<std::shared_ptr<const KeptPack>> PackShelf::Open(const Hash128& id,
                                                        const cache::Call& call) {
  KILN_TRY_VOID(Check(id));
  const int fd = ::open(PathOf(id).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  struct stat status {};
  if (fd < 0 || ::fstat(fd, &status) != 0) {
    (void)::close(fd);
    return Error{.code = ErrorCode::kNotFound,
                 .context = "no pack has the id " + id.hex() + "; build it again",
                 .reason = "UNKNOWN_PACK"};
  }
  auto kept = std::make_shared<const KeptPack>(fd, static_cast<uint64_t>(status.st_size));
  if (call.may_write && ::futimens(fd, nullptr) == 0 &&  // it was used now
      ::fstat(fd, &status) == 0) {
    const MutexLock lock(mutex_);
    checked_[id] = StampOf(status);
  }
  return kept;
}

Result<std::unique_ptr<pack::Pack>> PackShelf::OpenPack(const Hash128& id) {
  std::error_code error;
  const fs::path file = PathOf(id);
  if (!fs::exists(file, error)) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "no pack has the id " + id.hex() + "; build it again",
                 .reason = "UNKNOWN_PACK"};
  }
  std::vector<std::string> candidates;
  for (const Row& row : RowsOf(dir_)) {
    candidates.push_back(row.file.string());
  }
  Result<std::unique_ptr<pack::Pack>> opened = pack::OpenChain(file.string(), candidates, {});
  if (!opened.ok() && opened.error().code == ErrorCode::kDataLoss) {
    return Damaged(opened.error().context);
  }
  return opened;
}

}  // namespace kiln::compile
