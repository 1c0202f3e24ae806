// SPDX-License-Identifier: MIT
#include "tests/support/fault_vfs.h"

#include <sqlite3.h>

namespace kiln::tests {

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

int FaultVfs::BeforeOpen() { return CallFails() ? SQLITE_CANTOPEN : SQLITE_OK; }

int FaultVfs::Delete(const char* path, int sync) {
  return CallFails() ? SQLITE_IOERR_DELETE : ForwardingVfs::Delete(path, sync);
}

int FaultVfs::Read(const File& file, void* out, int size, int64_t offset) {
  return CallFails() ? SQLITE_IOERR_READ : ForwardingVfs::Read(file, out, size, offset);
}

int FaultVfs::Write(const File& file, const void* data, int size, int64_t offset) {
  if (!CallFails()) {
    return ForwardingVfs::Write(file, data, size, offset);
  }
  if (fault_ == DiskFault::kShortWrite) {
    static_cast<void>(ForwardingVfs::Write(file, data, size / 2, offset));
  }
  return fault_ == DiskFault::kFull ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

int FaultVfs::Truncate(const File& file, int64_t size) {
  return CallFails() ? SQLITE_IOERR_TRUNCATE : ForwardingVfs::Truncate(file, size);
}

int FaultVfs::Sync(const File& file, int flags) {
  return CallFails() ? SQLITE_IOERR_FSYNC : ForwardingVfs::Sync(file, flags);
}

int FaultVfs::FileSize(const File& file, int64_t* size) {
  return CallFails() ? SQLITE_IOERR_FSTAT : ForwardingVfs::FileSize(file, size);
}

int FaultVfs::ShmMap(const File& file, int region, int size, int extend, volatile void** out) {
  return CallFails() ? SQLITE_IOERR_SHMMAP : ForwardingVfs::ShmMap(file, region, size, extend, out);
}

}  // namespace kiln::tests
