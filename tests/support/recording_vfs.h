// SPDX-License-Identifier: MIT
// A SQLite VFS over the default one that writes down what is done to the disk, and what a disk may
// be left with if power goes at some moment: all that was synced, and of what was not synced any
// part, in any order, torn at sectors.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/mutex.h"

namespace kiln::tests {

struct DiskOp {
  enum class Kind : uint8_t { kWrite, kTruncate, kSync, kDelete, kMark };
  Kind kind = Kind::kMark;
  std::string file;     // its name without folders
  uint64_t offset = 0;  // or the size, or the mark
  Bytes bytes;
};

// Registers itself under its name for as long as it lives. Threads: safe from any thread.
class RecordingVfs {
 public:
  explicit RecordingVfs(const std::string& name);
  RecordingVfs(const RecordingVfs&) = delete;
  RecordingVfs& operator=(const RecordingVfs&) = delete;
  // Requires: no file is open.
  ~RecordingVfs();

  const std::string& name() const { return name_; }
  void Add(DiskOp op);
  // Something that must be true from here on, by number.
  void Mark(uint64_t number) { Add({.kind = DiskOp::Kind::kMark, .file = {}, .offset = number}); }
  std::vector<DiskOp> ops();

 private:
  struct Vfs;
  const std::string name_;
  std::unique_ptr<Vfs> vfs_;
  Mutex mutex_;
  std::vector<DiskOp> ops_ KILN_GUARDED_BY(mutex_);
};

// The disk behind a recording, one operation after the other.
class ReplayedDisk {
 public:
  void Do(const DiskOp& op);
  // What may be left if power goes now.
  std::map<std::string, Bytes> CutHere(std::mt19937_64& random) const;

 private:
  struct File {
    Bytes synced;
    std::vector<DiskOp> pending;  // since then
  };
  std::map<std::string, File> files_;
};

}  // namespace kiln::tests
