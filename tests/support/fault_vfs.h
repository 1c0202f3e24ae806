// SPDX-License-Identifier: MIT
// A SQLite VFS over the default one that counts every call to the disk and makes chosen ones fail:
// the disk errors, full disks and torn writes that a test cannot ask of a real disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "tests/support/forwarding_vfs.h"

namespace kiln::tests {

enum class DiskFault : uint8_t {
  kIoError,     // the call fails with an I/O error, nothing done
  kFull,        // writes fail with "disk is full"; other calls with an I/O error
  kShortWrite,  // half of the bytes are written, then an I/O error; other calls: I/O error
};

class FaultVfs final : public ForwardingVfs {
 public:
  using ForwardingVfs::ForwardingVfs;

  // The call with this number (from 0, since the last Arm or Disarm) fails, and `more` after it.
  void Arm(uint64_t call, DiskFault fault, uint64_t more = 0);
  // Nothing fails; counting starts again.
  void Disarm();
  uint64_t calls() const { return calls_; }

  int BeforeOpen() override;
  int Delete(const char* path, int sync) override;
  int Read(const File& file, void* out, int size, int64_t offset) override;
  int Write(const File& file, const void* data, int size, int64_t offset) override;
  int Truncate(const File& file, int64_t size) override;
  int Sync(const File& file, int flags) override;
  int FileSize(const File& file, int64_t* size) override;
  int ShmMap(const File& file, int region, int size, int extend, volatile void** out) override;

 private:
  bool CallFails();  // counts the call

  std::atomic<uint64_t> calls_{0};
  std::atomic<uint64_t> fail_from_{UINT64_MAX};
  std::atomic<uint64_t> fail_to_{UINT64_MAX};
  std::atomic<DiskFault> fault_{DiskFault::kIoError};
};

}  // namespace kiln::tests
