// SPDX-License-Identifier: MIT
// A SQLite VFS that forwards every call to the default one, until a test overrides it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

struct sqlite3_file;

namespace kiln::tests {

// Registers itself under its name for as long as it lives. Threads: safe from any thread.
class ForwardingVfs {
 public:
  // The real file behind an open one, with the path it was opened by ("": a temporary one).
  struct File {
    sqlite3_file* real = nullptr;
    const char* path = "";
  };

  explicit ForwardingVfs(const std::string& name);
  ForwardingVfs(const ForwardingVfs&) = delete;
  ForwardingVfs& operator=(const ForwardingVfs&) = delete;
  // Requires: no file is open.
  virtual ~ForwardingVfs();

  const std::string& name() const { return name_; }

  // What reaches the disk; each gives SQLite's result code.
  virtual int BeforeOpen();
  virtual int Delete(const char* path, int sync);
  virtual int Read(const File& file, void* out, int size, int64_t offset);
  virtual int Write(const File& file, const void* data, int size, int64_t offset);
  virtual int Truncate(const File& file, int64_t size);
  virtual int Sync(const File& file, int flags);
  virtual int FileSize(const File& file, int64_t* size);
  virtual int ShmMap(const File& file, int region, int size, int extend, volatile void** out);
  virtual int DeviceCharacteristics(const File& file);

 private:
  struct Vfs;
  const std::string name_;
  std::unique_ptr<Vfs> vfs_;
};

}  // namespace kiln::tests
