// SPDX-License-Identifier: MIT
#include "tests/support/forwarding_vfs.h"

#include <sqlite3.h>

#include "compiler/base/check.h"

namespace kiln::tests {
namespace {

// What SQLite sees as a file: our methods, whose it is, and the real file behind it.
struct OpenFile {
  sqlite3_file base;
  ForwardingVfs* owner;
  ForwardingVfs::File file;
};

OpenFile& Of(sqlite3_file* file) { return *reinterpret_cast<OpenFile*>(file); }
sqlite3_file* Real(sqlite3_file* file) { return Of(file).file.real; }
ForwardingVfs& Owner(sqlite3_file* file) { return *Of(file).owner; }

int Close(sqlite3_file* file) { return Real(file)->pMethods->xClose(Real(file)); }
int Read(sqlite3_file* file, void* out, int size, sqlite3_int64 offset) {
  return Owner(file).Read(Of(file).file, out, size, offset);
}
int Write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  return Owner(file).Write(Of(file).file, data, size, offset);
}
int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  return Owner(file).Truncate(Of(file).file, size);
}
int Sync(sqlite3_file* file, int flags) { return Owner(file).Sync(Of(file).file, flags); }
int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  int64_t found = 0;
  const int rc = Owner(file).FileSize(Of(file).file, &found);
  *size = found;
  return rc;
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
int DeviceCharacteristics(sqlite3_file* file) {
  return Owner(file).DeviceCharacteristics(Of(file).file);
}
int ShmMap(sqlite3_file* file, int region, int size, int extend, volatile void** out) {
  return Owner(file).ShmMap(Of(file).file, region, size, extend, out);
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

ForwardingVfs& OwnerOf(sqlite3_vfs* vfs) { return *static_cast<ForwardingVfs*>(vfs->pAppData); }

int Open(sqlite3_vfs* vfs, sqlite3_filename path, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;  // until it is open there is nothing to close
  if (const int rc = OwnerOf(vfs).BeforeOpen(); rc != SQLITE_OK) {
    return rc;
  }
  OpenFile& ours = Of(file);
  ours.owner = &OwnerOf(vfs);
  ours.file = {.real = reinterpret_cast<sqlite3_file*>(&ours + 1),
               .path = path == nullptr ? "" : path};
  const int rc = DefaultVfs()->xOpen(DefaultVfs(), path, ours.file.real, flags, out_flags);
  if (ours.file.real->pMethods != nullptr) {
    file->pMethods = &kMethods;
  }
  return rc;
}

int Delete(sqlite3_vfs* vfs, const char* path, int sync) { return OwnerOf(vfs).Delete(path, sync); }

}  // namespace

struct ForwardingVfs::Vfs {
  sqlite3_vfs vfs;
};

ForwardingVfs::ForwardingVfs(const std::string& name)
    : name_(name), vfs_(std::make_unique<Vfs>(Vfs{*DefaultVfs()})) {
  vfs_->vfs.zName = name_.c_str();
  vfs_->vfs.pNext = nullptr;
  vfs_->vfs.szOsFile = static_cast<int>(sizeof(OpenFile)) + DefaultVfs()->szOsFile;
  vfs_->vfs.pAppData = this;
  vfs_->vfs.xOpen = Open;
  vfs_->vfs.xDelete = tests::Delete;
  KILN_CHECK(sqlite3_vfs_register(&vfs_->vfs, 0) == SQLITE_OK);
}

ForwardingVfs::~ForwardingVfs() { sqlite3_vfs_unregister(&vfs_->vfs); }

int ForwardingVfs::BeforeOpen() { return SQLITE_OK; }

int ForwardingVfs::Delete(const char* path, int sync) {
  return DefaultVfs()->xDelete(DefaultVfs(), path, sync);
}

int ForwardingVfs::Read(const File& file, void* out, int size, int64_t offset) {
  return file.real->pMethods->xRead(file.real, out, size, offset);
}

int ForwardingVfs::Write(const File& file, const void* data, int size, int64_t offset) {
  return file.real->pMethods->xWrite(file.real, data, size, offset);
}

int ForwardingVfs::Truncate(const File& file, int64_t size) {
  return file.real->pMethods->xTruncate(file.real, size);
}

int ForwardingVfs::Sync(const File& file, int flags) {
  return file.real->pMethods->xSync(file.real, flags);
}

int ForwardingVfs::FileSize(const File& file, int64_t* size) {
  sqlite3_int64 found = 0;
  const int rc = file.real->pMethods->xFileSize(file.real, &found);
  *size = found;
  return rc;
}

int ForwardingVfs::ShmMap(const File& file, int region, int size, int extend, volatile void** out) {
  return file.real->pMethods->xShmMap(file.real, region, size, extend, out);
}

int ForwardingVfs::DeviceCharacteristics(const File& file) {
  return file.real->pMethods->xDeviceCharacteristics(file.real);
}

}  // namespace kiln::tests
