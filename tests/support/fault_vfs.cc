// SPDX-License-Identifier: MIT
// Forwarding, with a fault in the right place.
#include "tests/support/fault_vfs.h"

#include <cstring>
#include <new>

#include <sqlite3.h>

#include "compiler/base/check.h"

namespace kiln::tests {
namespace {

// What SQLite sees as a file: our methods, whose it is, and the real file behind it.
struct File {
  sqlite3_file base;
  FaultVfs* owner;
  sqlite3_file* real;
};

File& Of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
sqlite3_file* Real(sqlite3_file* file) { return Of(file).real; }
bool Fails(sqlite3_file* file) { return Of(file).owner->CallFails(); }

int WriteFault(const FaultVfs& owner) {
  return owner.fault() == DiskFault::kFull ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

int Close(sqlite3_file* file) { return Real(file)->pMethods->xClose(Real(file)); }

int Read(sqlite3_file* file, void* out, int size, sqlite3_int64 offset) {
  return Fails(file) ? SQLITE_IOERR_READ
                     : Real(file)->pMethods->xRead(Real(file), out, size, offset);
}

int Write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  if (!Fails(file)) {
    return Real(file)->pMethods->xWrite(Real(file), data, size, offset);
  }
  if (Of(file).owner->fault() == DiskFault::kShortWrite) {
    static_cast<void>(Real(file)->pMethods->xWrite(Real(file), data, size / 2, offset));
  }
  return WriteFault(*Of(file).owner);
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  return Fails(file) ? SQLITE_IOERR_TRUNCATE : Real(file)->pMethods->xTruncate(Real(file), size);
}

int Sync(sqlite3_file* file, int flags) {
  return Fails(file) ? SQLITE_IOERR_FSYNC : Real(file)->pMethods->xSync(Real(file), flags);
}

int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Fails(file) ? SQLITE_IOERR_FSTAT : Real(file)->pMethods->xFileSize(Real(file), size);
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
  return Real(file)->pMethods->xDeviceCharacteristics(Real(file));
}

int ShmMap(sqlite3_file* file, int region, int size, int extend, volatile void** out) {
  return Fails(file) ? SQLITE_IOERR_SHMMAP
                     : Real(file)->pMethods->xShmMap(Real(file), region, size, extend, out);
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

FaultVfs& OwnerOf(sqlite3_vfs* vfs) { return *static_cast<FaultVfs*>(vfs->pAppData); }

int Open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;  // until it is open there is nothing to close
  if (OwnerOf(vfs).CallFails()) {
    return SQLITE_CANTOPEN;
  }
  File& ours = Of(file);
  ours.owner = &OwnerOf(vfs);
  ours.real = reinterpret_cast<sqlite3_file*>(&ours + 1);
  const int rc = DefaultVfs()->xOpen(DefaultVfs(), name, ours.real, flags, out_flags);
  if (ours.real->pMethods != nullptr) {
    file->pMethods = &kMethods;
  }
  return rc;
}

int Delete(sqlite3_vfs* vfs, const char* name, int sync) {
  return OwnerOf(vfs).CallFails() ? SQLITE_IOERR_DELETE
                                  : DefaultVfs()->xDelete(DefaultVfs(), name, sync);
}

}  // namespace

struct FaultVfs::Vfs {
  sqlite3_vfs vfs;
};

FaultVfs::FaultVfs(const std::string& name)
    : name_(name), vfs_(std::make_unique<Vfs>(Vfs{*DefaultVfs()})) {
  vfs_->vfs.zName = name_.c_str();
  vfs_->vfs.pNext = nullptr;
  vfs_->vfs.szOsFile = static_cast<int>(sizeof(File)) + DefaultVfs()->szOsFile;
  vfs_->vfs.pAppData = this;
  vfs_->vfs.xOpen = Open;
  vfs_->vfs.xDelete = Delete;
  KILN_CHECK(sqlite3_vfs_register(&vfs_->vfs, 0) == SQLITE_OK);
}

FaultVfs::~FaultVfs() { sqlite3_vfs_unregister(&vfs_->vfs); }

void FaultVfs::Arm(uint64_t call, DiskFault fault, uint64_t more) {
  fault_ = fault;
  fail_from_ = call;
  fail_to_ = call + more;
  calls_ = 0;
}

void FaultVfs::Disarm() {
  fail_from_ = UINT64_MAX;
  fail_to_ = UINT64_MAX;
  calls_ = 0;
}

bool FaultVfs::CallFails() {
  const uint64_t call = calls_++;
  return call >= fail_from_ && call <= fail_to_;
}

}  // namespace kiln::tests
