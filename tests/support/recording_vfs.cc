// SPDX-License-Identifier: MIT
// Forwarding, with a notebook.
#include "tests/support/recording_vfs.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include <sqlite3.h>

#include "compiler/base/check.h"

namespace kiln::tests {
namespace {

constexpr uint64_t kSector = 512;

// What SQLite sees as a file. The name is that of the open file, which outlives it.
struct File {
  sqlite3_file base;
  RecordingVfs* owner;
  const char* name;
  sqlite3_file* real;
};

File& Of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
sqlite3_file* Real(sqlite3_file* file) { return Of(file).real; }

void Note(sqlite3_file* file, DiskOp::Kind kind, uint64_t offset = 0, ByteView bytes = {}) {
  Of(file).owner->Add({.kind = kind,
                       .file = std::filesystem::path(Of(file).name).filename().string(),
                       .offset = offset,
                       .bytes = Bytes(bytes.begin(), bytes.end())});
}

int Close(sqlite3_file* file) { return Real(file)->pMethods->xClose(Real(file)); }
int Read(sqlite3_file* file, void* out, int size, sqlite3_int64 offset) {
  return Real(file)->pMethods->xRead(Real(file), out, size, offset);
}
int Write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  Note(file, DiskOp::Kind::kWrite, static_cast<uint64_t>(offset),
       {static_cast<const std::byte*>(data), static_cast<size_t>(size)});
  return Real(file)->pMethods->xWrite(Real(file), data, size, offset);
}
int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  Note(file, DiskOp::Kind::kTruncate, static_cast<uint64_t>(size));
  return Real(file)->pMethods->xTruncate(Real(file), size);
}
int Sync(sqlite3_file* file, int flags) {
  const int rc = Real(file)->pMethods->xSync(Real(file), flags);
  Note(file, DiskOp::Kind::kSync);
  return rc;
}
int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Real(file)->pMethods->xFileSize(Real(file), size);
}
int Lock(sqlite3_file* file, int level) { return Real(file)->pMethods->xLock(Real(file), level); }
int Unlock(sqlite3_file* file, int level) {
  return Real(file)->pMethods->xUnlock(Real(file), level);
}
int CheckReservedLock(sqlite3_file* file, int* out) {
  return Real(file)->pMethods->xCheckReservedLock(Real(file), out);
}
int FileControl(sqlite3_file* file, int op, void* argument) {
  return Real(file)->pMethods->xFileControl(Real(file), op, argument);
}
int SectorSize(sqlite3_file* file) { return Real(file)->pMethods->xSectorSize(Real(file)); }
// Nothing is promised beyond what POSIX does: no atomic writes, no order.
int DeviceCharacteristics(sqlite3_file*) { return 0; }
int ShmMap(sqlite3_file* file, int region, int size, int extend, volatile void** out) {
  return Real(file)->pMethods->xShmMap(Real(file), region, size, extend, out);
}
int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return Real(file)->pMethods->xShmLock(Real(file), offset, count, flags);
}
void ShmBarrier(sqlite3_file* file) { Real(file)->pMethods->xShmBarrier(Real(file)); }
int ShmUnmap(sqlite3_file* file, int remove) {
  return Real(file)->pMethods->xShmUnmap(Real(file), remove);
}

constexpr sqlite3_io_methods kMethods = {
    .iVersion = 2,
    .xClose = Close,
    .xRead = Read,
    .xWrite = Write,
    .xTruncate = Truncate,
    .xSync = Sync,
    .xFileSize = FileSize,
    .xLock = Lock,
    .xUnlock = Unlock,
    .xCheckReservedLock = CheckReservedLock,
    .xFileControl = FileControl,
    .xSectorSize = SectorSize,
    .xDeviceCharacteristics = DeviceCharacteristics,
    .xShmMap = ShmMap,
    .xShmLock = ShmLock,
    .xShmBarrier = ShmBarrier,
    .xShmUnmap = ShmUnmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

sqlite3_vfs* DefaultVfs() {
  static sqlite3_vfs* const vfs = sqlite3_vfs_find(nullptr);
  return vfs;
}

RecordingVfs& OwnerOf(sqlite3_vfs* vfs) { return *static_cast<RecordingVfs*>(vfs->pAppData); }

int Open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;
  File& ours = Of(file);
  ours.owner = &OwnerOf(vfs);
  ours.name = name == nullptr ? "" : name;
  ours.real = reinterpret_cast<sqlite3_file*>(&ours + 1);
  const int rc = DefaultVfs()->xOpen(DefaultVfs(), name, ours.real, flags, out_flags);
  if (ours.real->pMethods != nullptr) {
    file->pMethods = &kMethods;
  }
  return rc;
}

int Delete(sqlite3_vfs* vfs, const char* name, int sync) {
  OwnerOf(vfs).Add({.kind = DiskOp::Kind::kDelete,
                    .file = std::filesystem::path(name).filename().string(),
                    .offset = 0,
                    .bytes = {}});
  return DefaultVfs()->xDelete(DefaultVfs(), name, sync);
}

void Apply(const DiskOp& op, Bytes& content, uint64_t size) {
  if (op.kind == DiskOp::Kind::kTruncate) {
    content.resize(op.offset);
    return;
  }
  content.resize(std::max<uint64_t>(content.size(), op.offset + size));
  std::copy_n(op.bytes.begin(), size, content.begin() + static_cast<int64_t>(op.offset));
}

}  // namespace

struct RecordingVfs::Vfs {
  sqlite3_vfs vfs;
};

RecordingVfs::RecordingVfs(const std::string& name)
    : name_(name), vfs_(std::make_unique<Vfs>(Vfs{*DefaultVfs()})) {
  vfs_->vfs.zName = name_.c_str();
  vfs_->vfs.pNext = nullptr;
  vfs_->vfs.szOsFile = static_cast<int>(sizeof(File)) + DefaultVfs()->szOsFile;
  vfs_->vfs.pAppData = this;
  vfs_->vfs.xOpen = Open;
  vfs_->vfs.xDelete = Delete;
  KILN_CHECK(sqlite3_vfs_register(&vfs_->vfs, 0) == SQLITE_OK);
}

RecordingVfs::~RecordingVfs() { sqlite3_vfs_unregister(&vfs_->vfs); }

void RecordingVfs::Add(DiskOp op) {
  const MutexLock lock(mutex_);
  ops_.push_back(std::move(op));
}

std::vector<DiskOp> RecordingVfs::ops() {
  const MutexLock lock(mutex_);
  return ops_;
}

void ReplayedDisk::Do(const DiskOp& op) {
  switch (op.kind) {
    case DiskOp::Kind::kWrite:
    case DiskOp::Kind::kTruncate:
      files_[op.file].pending.push_back(op);
      return;
    case DiskOp::Kind::kSync: {
      File& file = files_[op.file];
      for (const DiskOp& pending : file.pending) {
        Apply(pending, file.synced, pending.bytes.size());
      }
      file.pending.clear();
      return;
    }
    case DiskOp::Kind::kDelete:
      files_.erase(op.file);
      return;
    case DiskOp::Kind::kMark:
      return;
  }
  KILN_UNREACHABLE();
}

std::map<std::string, Bytes> ReplayedDisk::CutHere(std::mt19937_64& random) const {
  std::map<std::string, Bytes> left;
  const uint64_t keep = random() % 5;  // none, a quarter, … all of what is pending
  for (const auto& [name, file] : files_) {
    Bytes& content = left[name] = file.synced;
    std::vector<DiskOp> pending = file.pending;
    if (random() % 2 == 0) {
      std::shuffle(pending.begin(), pending.end(), random);
    }
    for (const DiskOp& op : pending) {
      if (random() % 4 < keep) {
        const bool torn = random() % 8 == 0;
        const uint64_t size = op.bytes.size();
        Apply(op, content, torn ? std::min(size, random() % (size / kSector + 1) * kSector) : size);
      }
    }
  }
  return left;
}

}  // namespace kiln::tests
