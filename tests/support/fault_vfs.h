// SPDX-License-Identifier: MIT
// A SQLite VFS over the default one that counts every call to the disk and makes chosen ones fail:
// the disk errors, full disks and torn writes that a test cannot ask of a real disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace kiln::tests {

enum class DiskFault : uint8_t {
  kIoError,     // the call fails with an I/O error, nothing done
  kFull,        // writes fail with "disk is full"; other calls with an I/O error
  kShortWrite,  // half of the bytes are written, then an I/O error; other calls: I/O error
};

// Registers itself under its name for as long as it lives. Threads: safe from any thread.
class FaultVfs {
 public:
  explicit FaultVfs(const std::string& name);
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;
  // Requires: no file is open.
  ~FaultVfs();

  const std::string& name() const { return name_; }

  // The call with this number (from 0, since the last Arm or Disarm) fails, and `more` after it.
  void Arm(uint64_t call, DiskFault fault, uint64_t more = 0);
  // Nothing fails; counting starts again.
  void Disarm();
  uint64_t calls() const { return calls_; }

  // For the file functions: counts one call; true if it has to fail.
  bool CallFails();
  DiskFault fault() const { return fault_; }

 private:
  struct Vfs;
  const std::string name_;
  std::unique_ptr<Vfs> vfs_;
  std::atomic<uint64_t> calls_{0};
  std::atomic<uint64_t> fail_from_{UINT64_MAX};
  std::atomic<uint64_t> fail_to_{UINT64_MAX};
  std::atomic<DiskFault> fault_{DiskFault::kIoError};
};

}  // namespace kiln::tests
