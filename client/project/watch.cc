// SPDX-License-Identifier: MIT
// One thread owns a watcher and calls Wait; only Wake may be called from another one. Events of
// inotify are hints (spec/daemon 8.2.2): they name paths that are to be looked at, and what is
// pushed is decided by the digest of what was read. So lost, doubled and late events cost time and
// nothing else.
#include "client/project/watch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <linux/magic.h>
#include <poll.h>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "client/project/limits.h"
#include "compiler/base/files/beneath.h"
#include "compiler/base/files/file.h"

namespace kiln::project {
namespace {

// A file that was closed after writing or moved into place is whole. All other events may be a part
// of what an editor does, so they wait for quiet.
constexpr uint32_t kWhole = IN_CLOSE_WRITE | IN_MOVED_TO;
constexpr uint32_t kPart = IN_CREATE | IN_DELETE | IN_MOVED_FROM;
constexpr uint32_t kFolder = IN_DELETE_SELF | IN_MOVE_SELF;
constexpr Duration kPollEvery = std::chrono::seconds(1);
constexpr Duration kGrowing = std::chrono::milliseconds(5);
constexpr int kReadAttempts = 20;

// File systems that do not tell what other machines do.
bool TellsEvents(const std::string& folder) {
  constexpr std::array<uint64_t, 5> kSilent = {NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, 0xff534d42u,
                                               0xfe534d42u, 0x65735546u};  // CIFS, SMB2, FUSE
  struct statfs info {};
  return statfs(folder.c_str(), &info) != 0 ||
         std::ranges::find(kSilent, static_cast<uint64_t>(info.f_type) & 0xffffffffu) ==
             kSilent.end();
}

// A cheap test whether a file may have changed, for polling: inode, size and time, never zero for a
// file that is there.
uint64_t StampOf(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return 0;
  }
  const std::array<uint64_t, 4> parts = {
      static_cast<uint64_t>(info.st_ino), static_cast<uint64_t>(info.st_size),
      static_cast<uint64_t>(info.st_mtim.tv_sec), static_cast<uint64_t>(info.st_mtim.tv_nsec)};
  uint64_t stamp = 0;
  for (const uint8_t byte : HashBytes(std::as_bytes(std::span(parts))).bytes) {
    stamp = stamp << 8 | byte;
  }
  return stamp | 1;
}

// A folder that somebody is in can be opened after it was removed; then it has no name any more.
bool IsThere(const std::string& folder) {
  struct stat info {};
  return stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_nlink != 0;
}

std::string Below(const std::string& folder, std::string_view name) {
  return folder.empty() ? std::string(name) : folder + "/" + std::string(name);
}

}  // namespace

Watcher::Watcher(Options options, Clock& clock)
    : options_(std::move(options)), clock_(clock), debounce_(options_.quiet) {}

Watcher::~Watcher() {
  for (const int fd : {inotify_, wake_}) {
    if (fd >= 0) {
      (void)close(fd);
    }
  }
}

// Trouble with inotify is no error: the watcher polls and says why (spec/daemon 8.2.1).
Result<std::unique_ptr<Watcher>> Watcher::Start(const Options& options, Clock& clock) {
  if (!IsThere(options.root)) {
    return FileError(options.root, "cannot watch", ENOENT);
  }
  std::unique_ptr<Watcher> watcher(new Watcher(options, clock));
  watcher->wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  watcher->inotify_ = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (options.poll_only) {
    watcher->Degrade("polling was asked for");
  } else if (watcher->inotify_ < 0) {
    watcher->Degrade("the limit of inotify instances is reached");
  } else if (!TellsEvents(options.root)) {
    watcher->Degrade("the file system does not tell changes");
  }
  return watcher;
}

std::string Watcher::Absolute(const std::string& path) const {
  return (std::filesystem::path(options_.root) / path).string();
}

// What became a link out of the project, or is too large for a source, is not there.
Result<std::string> Watcher::Read(const std::string& path, const File& file) const {
  return file.may_be_link ? ReadFile(Absolute(path), kMaxManifest)
                          : ReadFileBeneath(options_.root, path, kMaxSource);
}

// A whole file: one that grows while it is read is read again.
Result<std::string> Watcher::ReadWhole(const std::string& path, const File& file) const {
  const std::string name = Absolute(path);
  for (int attempt = 0;; ++attempt) {
    struct stat before {};
    struct stat after {};
    const bool known = stat(name.c_str(), &before) == 0;
    Result<std::string> text = Read(path, file);
    const bool stable = known && stat(name.c_str(), &after) == 0 && text.ok() &&
                        before.st_ino == after.st_ino && before.st_size == after.st_size &&
                        static_cast<size_t>(after.st_size) == text->size();
    if (stable || !text.ok() || attempt == kReadAttempts) {
      return text;
    }
    std::this_thread::sleep_for(kGrowing);
  }
}

void Watcher::Degrade(std::string why) {
  if (degraded_.empty()) {
    degraded_ = std::move(why);
    next_poll_ = clock_.Monotonic();
  }
}

// The set of watched files changes with the manifest. Stamps are kept where nothing changed, so
// that polling does not read everything again.
void Watcher::SetFiles(const std::vector<KnownFile>& files) {
  std::map<std::string, File> now;
  for (const KnownFile& file : files) {
    const auto old = files_.find(file.path);
    now[file.path] = {
        .digest = file.digest,
        .missing = file.missing,
        .may_be_link = file.may_be_link,
        .stamp = old != files_.end() && old->second.digest == file.digest ? old->second.stamp : 0};
  }
  files_ = std::move(now);
  WatchFolders();
  // What changed between reading and watching is noticed by looking once more.
  for (const auto& [path, file] : files_) {
    Touch(path, Debounce::ChangeKind::kPart);
  }
}

// Every folder from the root down to a file, as far as they exist.
void Watcher::WatchFolders() {
  if (!degraded_.empty()) {
    return;
  }
  WatchFolder("");
  for (const auto& [path, file] : files_) {
    for (size_t slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      if (slash != 0) {
        WatchFolder(path.substr(0, slash));
      }
    }
  }
}

// A folder that is not there is no trouble: its parent is watched and tells when it comes.
void Watcher::WatchFolder(const std::string& folder) {
  if (watches_.contains(folder)) {
    return;
  }
  if (watches_.size() == kMaxFolders) {
    return Degrade("there are more than 8,192 folders");
  }
  const int watch =
      inotify_add_watch(inotify_, Absolute(folder).c_str(), kWhole | kPart | kFolder | IN_ONLYDIR);
  if (watch >= 0) {
    // The same folder by another name: the first one stays.
    if (folders_.emplace(watch, folder).second) {
      watches_[folder] = watch;
    }
  } else if (errno == ENOSPC) {
    Degrade("the limit of inotify watches is reached");
  }
}

void Watcher::Wake() const {
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
}

// `since_` is the time of the first change of a push, from which latency is measured
// (spec/daemon 8.3.8).
void Watcher::Touch(const std::string& path, Debounce::ChangeKind what) {
  const Duration now = clock_.Monotonic();
  touched_.insert(path);
  since_ = since_.value_or(now);
  debounce_.Touch(now, what);
}

void Watcher::TouchBelow(const std::string& folder, Debounce::ChangeKind what) {
  for (const auto& [path, file] : files_) {
    if (folder.empty() || path.starts_with(folder + "/")) {
      Touch(path, what);
    }
  }
}

// A folder that goes or is moved takes its watch with it. Its files are looked at, and the folder
// is watched again when it comes back.
void Watcher::OnEvent(int watch, uint32_t mask, const char* name) {
  if ((mask & IN_Q_OVERFLOW) != 0) {  // anything may have happened
    WatchFolders();
    TouchBelow("", Debounce::ChangeKind::kWhole);
    return Degrade("inotify lost events");
  }
  const auto found = folders_.find(watch);
  if (found == folders_.end()) {
    return;
  }
  const std::string folder = found->second;
  if ((mask & (kFolder | IN_IGNORED)) != 0) {
    if ((mask & IN_MOVE_SELF) != 0) {
      (void)inotify_rm_watch(inotify_, watch);  // by its old name it is gone
    }
    folders_.erase(watch);
    watches_.erase(folder);
    if (folder.empty()) {
      root_lost_ = !IsThere(options_.root);
      WatchFolders();
    }
    return TouchBelow(folder, Debounce::ChangeKind::kPart);
  }
  const std::string path = Below(folder, name);
  if ((mask & IN_ISDIR) != 0) {
    WatchFolders();  // files may be in it already
    return TouchBelow(path, Debounce::ChangeKind::kPart);
  }
  if (files_.contains(path)) {
    Touch(path, (mask & kWhole) != 0 ? Debounce::ChangeKind::kWhole : Debounce::ChangeKind::kPart);
  }
}

// The buffer takes many events; the kernel never gives a part of one.
void Watcher::ReadEvents() {
  alignas(inotify_event) std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t size = read(inotify_, buffer.data(), buffer.size());
    if (size <= 0) {
      return;
    }
    for (ssize_t at = 0; at < size;) {
      const auto* const event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      OnEvent(event->wd, event->mask, event->len != 0 ? event->name : "");
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
}

// Costs a stat for each file, every second, so it is done only where nobody tells of changes.
void Watcher::Poll() {
  next_poll_ = clock_.Monotonic() + kPollEvery;
  root_lost_ = root_lost_ || !IsThere(options_.root);
  for (auto& [path, file] : files_) {
    const uint64_t stamp = StampOf(Absolute(path));
    if (stamp != file.stamp) {
      file.stamp = stamp;
      Touch(path, Debounce::ChangeKind::kWhole);
    }
  }
}

// Reads what was touched. A file that is not there gets the quiet time to come back: many editors
// delete before they write.
std::optional<FileChanges> Watcher::Gather() {
  debounce_.Pushed();
  FileChanges changes{.since = since_.value_or(clock_.Monotonic())};
  since_.reset();
  const std::set<std::string> touched = std::exchange(touched_, {});
  for (const std::string& path : touched) {
    const auto found = files_.find(path);
    if (found == files_.end()) {
      continue;
    }
    File& file = found->second;
    Result<std::string> text = ReadWhole(path, file);
    if (!text.ok()) {
      if (file.missing) {
        continue;
      }
      // The first time it is missing it waits; the second time it is removed.
      if (missed_.insert(path).second) {
        Touch(path, Debounce::ChangeKind::kPart);
      } else {
        missed_.erase(path);
        file.missing = true;
        changes.removed.push_back(path);
      }
      continue;
    }
    missed_.erase(path);
    const Digest digest = DigestOf(std::string_view(*text));
    if (digest != file.digest || file.missing) {
      file.digest = digest;
      file.missing = false;
      changes.changed.push_back({.path = path, .digest = digest, .text = *std::move(text)});
    }
  }
  // Nobody tells that a folder is gone while somebody is in it; its files are gone before it.
  root_lost_ = root_lost_ || (!changes.removed.empty() && !IsThere(options_.root));
  if (root_lost_) {
    return FileChanges{.root_lost = true};
  }
  return changes.changed.empty() && changes.removed.empty() ? std::nullopt
                                                            : std::optional(std::move(changes));
}

// Waits for whatever comes first: events, quiet, the next poll, Wake or the end of the time. Time
// is rounded up, so a wait of less than a millisecond does not spin.
std::optional<FileChanges> Watcher::Wait(Duration timeout) {
  const Duration end = clock_.Monotonic() + timeout;
  for (;;) {
    const Duration now = clock_.Monotonic();
    if (!degraded_.empty() && now >= next_poll_) {
      Poll();
    }
    if (root_lost_) {
      return FileChanges{.root_lost = true};
    }
    const std::optional<Duration> due = debounce_.Due();
    if (due.has_value() && *due <= now) {
      if (std::optional<FileChanges> changes = Gather(); changes.has_value()) {
        return changes;
      }
      continue;
    }
    if (now >= end) {
      root_lost_ = !IsThere(options_.root);
      return root_lost_ ? std::optional(FileChanges{.root_lost = true}) : std::nullopt;
    }
    Duration until = std::min(end, due.value_or(end));
    until = degraded_.empty() ? until : std::min(until, next_poll_);
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(until - now);
    const timespec wait = {.tv_sec = left.count() / 1'000'000,
                           .tv_nsec = left.count() % 1'000'000 * 1000 + 999};
    std::array<pollfd, 2> ready = {{{.fd = inotify_, .events = POLLIN, .revents = 0},
                                    {.fd = wake_, .events = POLLIN, .revents = 0}}};
    (void)ppoll(ready.data(), ready.size(), &wait, nullptr);
    if (ready[1].revents != 0) {
      uint64_t count = 0;
      (void)!read(wake_, &count, sizeof(count));
      return std::nullopt;
    }
    if (ready[0].revents != 0) {
      ReadEvents();
    }
  }
}

}  // namespace kiln::project
