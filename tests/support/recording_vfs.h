// SPDX-License-Identifier: MIT
// A SQLite VFS over the default one that writes down what is done to the disk, and what a disk may
// be left with if power goes at some moment: all that was synced, and of what was not synced any
// part, in any order, torn at sectors.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/mutex.h"
#include "tests/support/forwarding_vfs.h"

namespace kiln::tests {

struct DiskOp {
  enum class Kind : uint8_t { kWrite, kTruncate, kSync, kDelete, kMark };
  Kind kind = Kind::kMark;
  std::string file;     // its name without folders
  uint64_t offset = 0;  // or the size, or the mark
  Bytes bytes;
};

class RecordingVfs final : public ForwardingVfs {
 public:
  using ForwardingVfs::ForwardingVfs;

  // Something that must be true from here on, by number.
  void Mark(uint64_t number) { Add({.kind = DiskOp::Kind::kMark, .file = {}, .offset = number}); }
  std::vector<DiskOp> ops();

  int Delete(const char* path, int sync) override;
  int Write(const File& file, const void* data, int size, int64_t offset) override;
  int Truncate(const File& file, int64_t size) override;
  int Sync(const File& file, int flags) override;
  int DeviceCharacteristics(const File& file) override;

 private:
  void Add(DiskOp op);

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
