// SPDX-License-Identifier: MIT
// Files of a project -> what really changed in them. inotify on folders, so that every way an
// editor saves is seen; polling where inotify does not reach. An event is a hint only: the file is
// read again, and equal content is not a change. See spec/daemon 8.2
//
// Threads: Wake from any thread and from signal handlers; the rest by one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/project/debounce.h"
#include "compiler/base/clock.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"

namespace kiln::project {

struct ChangedFile {
  std::string path;  // as it was given
  Digest digest;
  std::string text;
};

// One push.
struct FileChanges {
  std::vector<ChangedFile> changed;
  std::vector<std::string> removed;
  Duration since{};        // monotonic: the event that began it
  bool root_lost = false;  // the folder is gone
};

class Watcher {
 public:
  static constexpr size_t kMaxFolders = 8192;

  struct Options {
    std::string root;  // folder that paths are relative to
    Duration quiet = std::chrono::milliseconds(50);
    bool poll_only = false;  // for file systems without events, and for tests
  };

  // Clock must outlive the watcher. Errors: kNotFound if there is no such folder.
  static Result<std::unique_ptr<Watcher>> Start(const Options& options, Clock& clock);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Which files there are, and what is known of them; folders that do not exist yet are fine.
  struct KnownFile {
    std::string path;
    Digest digest;
    bool missing = false;  // it is not there yet
    // It may be a link, and lie elsewhere; only of a file that a person named. Sources are opened
    // as they were at first, below the root and without links. See spec/daemon 11.6
    bool may_be_link = false;
  };
  void SetFiles(const std::vector<KnownFile>& files);

  // The next push; nothing if Wake was called or the time is over.
  std::optional<FileChanges> Wait(Duration timeout);
  void Wake() const;

  // Why files are looked at once a second only; empty: they are not.
  const std::string& degraded() const { return degraded_; }

 private:
  struct File {
    Digest digest;
    bool missing = false;
    bool may_be_link = false;
    uint64_t stamp = 0;  // of its inode when it was polled last
  };

  Watcher(Options options, Clock& clock);
  void WatchFolders();
  void WatchFolder(const std::string& folder);
  void ReadEvents();
  void OnEvent(int watch, uint32_t mask, const char* name);
  void Touch(const std::string& path, Debounce::ChangeKind what);
  void TouchBelow(const std::string& folder, Debounce::ChangeKind what);
  void Poll();
  void Degrade(std::string why);
  std::optional<FileChanges> Gather();
  std::string Absolute(const std::string& path) const;
  Result<std::string> Read(const std::string& path, const File& file) const;
  Result<std::string> ReadWhole(const std::string& path, const File& file) const;

  const Options options_;
  Clock& clock_;
  int inotify_ = -1;
  int wake_ = -1;
  std::string degraded_;
  Duration next_poll_{};
  std::map<std::string, File> files_;   // by path
  std::map<int, std::string> folders_;  // by watch; relative, "" is the root
  std::map<std::string, int> watches_;  // the reverse
  std::set<std::string> touched_;       // files
  std::set<std::string> missed_;        // of these: missing when they were looked at
  std::optional<Duration> since_;
  bool root_lost_ = false;
  Debounce debounce_;
};

}  // namespace kiln::project
