// SPDX-License-Identifier: MIT
// Packs that were built lately, as files in a folder; packs of others than the owner lie in folders
// of their own (spec/daemon 4.4). The folder is the truth: times of files say what was used, sizes
// what is taken, and a process that dies leaves nothing but files without a name. The mutex guards
// the naming and removing of files and what was verified; reading holds no lock.
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

#include "cache/leases/actor.h"
#include "cache/leases/owner_shares.h"
#include "cache/pack/chain.h"
#include "cache/pack/errors.h"
#include "compiler/base/files/file.h"

namespace kiln::compile {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".kpack";
constexpr std::string_view kHalfDone = "build-";
constexpr std::string_view kOfOthers = "of-";  // a folder

Error Damaged(const std::string& text) {
  return {.code = ErrorCode::kDataLoss, .context = text, .reason = "DAMAGED"};
}

// Other files of the folder have no id in their name and are left alone.
std::optional<Hash128> IdOf(const fs::path& file) {
  return file.extension() == kExtension ? ParseHash128(file.stem().string()) : std::nullopt;
}

// Size and time of the last change.
// The time of the last change of the inode, which nobody can set: a file that was written with its
// old time of modification is still noticed.
std::pair<uint64_t, int64_t> StampOf(const struct stat& status) {
  return {static_cast<uint64_t>(status.st_size),
          int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec};
}

Error Unknown(const Hash128& id) {
  return {.code = ErrorCode::kNotFound,
          .context = "no pack has the id " + id.hex() + "; build it again",
          .reason = "UNKNOWN_PACK"};
}

struct ShelfRow {
  fs::path file;
  std::string folder;  // of its owner; empty: the owner of the daemon
  fs::file_time_type used;
  uint64_t bytes = 0;
};

// Reads at most two levels, and only folders with the prefix, whatever else lies there. Errors end
// the list: a pack that cannot be seen is not there.
void AddRows(const fs::path& dir, const std::string& folder, std::vector<ShelfRow>& rows) {
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const fs::path& file = it->path();
    // What a link leads to is no pack of the shelf, nor a folder of it.
    const fs::file_type type = it->symlink_status(ignored).type();
    if (IdOf(file).has_value() && type == fs::file_type::regular) {
      rows.push_back({.file = file,
                      .folder = folder,
                      .used = fs::last_write_time(file, ignored),
                      .bytes = fs::file_size(file, ignored)});
    } else if (folder.empty() && type == fs::file_type::directory &&
               file.filename().string().starts_with(kOfOthers)) {
      AddRows(file, file.filename().string(), rows);  // which is no folder of folders
    }
  }
}

// Packs of the directory, the one used least lately first.
// The directory is the list: nothing else remembers what packs there are, so nothing can disagree
// with it after a crash.
std::vector<ShelfRow> RowsOf(const fs::path& dir) {
  std::vector<ShelfRow> rows;
  AddRows(dir, {}, rows);
  std::sort(rows.begin(), rows.end(), [](const ShelfRow& a, const ShelfRow& b) {
    return std::tie(a.used, a.file) < std::tie(b.used, b.file);
  });
  return rows;
}

// Whoever may read packs need not know where they lie.
std::string WithoutFolders(std::string text, std::span<const ShelfRow> rows) {
  for (const ShelfRow& row : rows) {
    const std::string path = row.file.string();
    for (size_t at = text.find(path); at != std::string::npos; at = text.find(path, at)) {
      text.replace(at, path.size(), row.file.filename().string());
    }
  }
  return text;
}

}  // namespace

KeptPack::~KeptPack() { (void)::close(fd_); }

// pread has no position of its own, so any number of callers may read one file at a time. Requires:
// the range lies in the file, and `size` is one page of a stream.
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

// A process that died left files without a name of their own; nobody will finish them.
PackShelf::PackShelf(fs::path dir, const Options& options)
    : dir_(std::move(dir)), options_(options) {
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

std::vector<fs::path> PackShelf::PathsOf(const Hash128& id) const {
  std::vector<fs::path> paths;
  for (ShelfRow& row : RowsOf(dir_)) {
    if (IdOf(row.file) == id) {
      paths.push_back(std::move(row.file));
    }
  }
  return paths;
}

// The copy that was used last, where several principals have the same pack.
std::optional<fs::path> PackShelf::PathOf(const Hash128& id) const {
  std::vector<fs::path> paths = PathsOf(id);
  return paths.empty() ? std::nullopt : std::optional(std::move(paths.back()));
}

// The name of a principal is no name of a file, and may be long.
fs::path PackShelf::FolderOf(std::string_view owner) const {
  return cache::OwnerName(owner) == cache::OwnerName({})
             ? dir_
             : dir_ / (std::string(kOfOthers) + HashBytes(AsBytes(owner)).hex());
}

// Names count within this process; those of an earlier one were removed at the start.
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

// Takes the file over, whatever comes of it: it has its name, or it is gone. Size is checked before
// it has a name, so that a pack that can never fit drops nobody else's.
Result<void> PackShelf::Keep(const std::string& file, const Hash128& id, std::string_view owner) {
  std::error_code error;
  const fs::path folder = FolderOf(owner);
  const fs::path path = folder / (id.hex() + std::string(kExtension));
  cache::OwnerShares alone(options_.max_bytes);
  alone.Add(owner, fs::file_size(file, error));
  if (!error && !alone.Fits(owner)) {
    fs::remove(file, error);
    return Error{.code = ErrorCode::kResourceExhausted,
                 .context = "the pack has " + std::to_string(alone.all()) +
                            " bytes; packs of all "
                            "may have " +
                            std::to_string(alone.most()) +
                            ", those of one who is "
                            "not the owner " +
                            std::to_string(alone.MostOfOne()),
                 .reason = "LIMIT_EXCEEDED"};
  }
  const MutexLock lock(mutex_);
  fs::create_directories(folder, error);
  fs::permissions(folder, fs::perms::owner_all, error);
  // The id is a hash of the content, so a pack that is replaced was the same pack. Whoever has it
  // open keeps his file.
  fs::rename(file, path, error);
  if (error) {
    const int code = error.value();
    fs::remove(file, error);
    return FileError(path.string(), "cannot write", code);
  }
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);
  checked_.erase(id);
  Trim(folder == dir_ ? std::string() : folder.filename().string(), path);
  return {};
}

// For callers who may not keep a pack: the file goes in any case.
bool PackShelf::HasInstead(const std::string& file, const Hash128& id) const {
  std::error_code error;
  fs::remove(file, error);
  return !PathsOf(id).empty();
}

// A pack that is open is removed as well: its reader has the file until it closes it.
void PackShelf::Drop(const fs::path& file) {
  std::error_code error;
  fs::remove(file, error);
  if (const std::optional<Hash128> id = IdOf(file); id.has_value()) {
    checked_.erase(*id);
  }
}

// First the number of those of one, then the bytes of all. What was kept now stays.
void PackShelf::Trim(std::string_view owner, const fs::path& kept) {
  const std::vector<ShelfRow> rows = RowsOf(dir_);
  cache::OwnerShares bytes(options_.max_bytes);
  std::vector<cache::OwnedThing> things;
  for (const ShelfRow& row : rows) {
    bytes.Add(row.folder, row.bytes);
    things.push_back({.owner = row.folder, .used = row.used.time_since_epoch().count()});
    things.back().may_go = row.file != kept;
  }
  const auto drop = [&](size_t i) KILN_REQUIRES(mutex_) {
    Drop(rows[i].file);
    bytes.Remove(rows[i].folder, rows[i].bytes);
    things[i].may_go = false;
  };
  auto own = static_cast<size_t>(std::ranges::count(rows, owner, &ShelfRow::folder));
  // Rows are ordered by their last use, so the oldest go first.
  for (size_t i = 0; i < rows.size() && own > options_.max_packs; ++i) {
    if (rows[i].folder == owner && things[i].may_go) {
      drop(i);
      --own;
    }
  }
  while (!bytes.Fits(owner)) {
    const std::optional<size_t> next = cache::NextToGo(bytes, things, owner);
    if (!next.has_value()) {
      return;  // Keep takes none that is too large by itself
    }
    drop(*next);
  }
}

// Every byte is verified once; a file that changed since is verified again. The file's stamp says
// whether it is the file that was verified.
Result<void> PackShelf::Check(const Hash128& id) {
  const std::optional<fs::path> file = PathOf(id);
  struct stat status {};
  if (!file.has_value() || ::lstat(file->c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return Unknown(id);
  }
  const std::pair<uint64_t, int64_t> seen = StampOf(status);
  {
    const MutexLock lock(mutex_);
    if (const auto found = checked_.find(id); found != checked_.end() && found->second == seen) {
      return {};
    }
  }
  // Gigabytes are read here, so no lock is held. Two callers at once may both verify, which is only
  // slow.
  const Result<std::unique_ptr<pack::Pack>> opened = OpenPack(id);
  if (!opened.ok() && opened.error().reason != pack::kBaseMissing) {
    return opened.error();
  }
  if (opened.ok()) {  // of a delta without its base nothing more can be said
    if (const Result<void> sound = (*opened)->Verify(); !sound.ok()) {
      return Damaged(WithoutFolders(sound.error().context, RowsOf(dir_)));
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
  // Between Check and here the pack may have been trimmed. Then it is not there, as if it had been
  // asked for later. O_NOFOLLOW: a name that somebody made a link is refused.
  const std::optional<fs::path> file = PathOf(id);
  const int fd =
      file.has_value() ? ::open(file->c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
  struct stat status {};
  if (fd < 0 || ::fstat(fd, &status) != 0) {
    (void)::close(fd);
    return Unknown(id);
  }
  auto kept = std::make_shared<const KeptPack>(fd, static_cast<uint64_t>(status.st_size));
  if (call.may_write) {  // it was used now, whoever built it
    for (const fs::path& path : PathsOf(id)) {
      (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
    }
    // The stamp is taken anew, as the time of the file is part of it. Otherwise the next caller
    // would verify every byte again.
    if (::fstat(fd, &status) == 0) {
      const MutexLock lock(mutex_);
      checked_[id] = StampOf(status);
    }
  }
  return kept;
}

Result<std::unique_ptr<pack::Pack>> PackShelf::OpenPack(const Hash128& id) {
  const std::optional<fs::path> file = PathOf(id);
  if (!file.has_value()) {
    return Unknown(id);
  }
  // A delta names its base by an id, so all packs of the shelf are offered.
  const std::vector<ShelfRow> rows = RowsOf(dir_);
  std::vector<std::string> candidates;
  for (const ShelfRow& row : rows) {
    candidates.push_back(row.file.string());
  }
  Result<std::unique_ptr<pack::Pack>> opened = pack::OpenChain(file->string(), candidates, {});
  if (opened.ok()) {
    return opened;
  }
  Error error = std::move(opened).error();
  error.context = WithoutFolders(std::move(error.context), rows);
  return error.code == ErrorCode::kDataLoss ? Damaged(error.context) : error;
}

}  // namespace kiln::compile
