// SPDX-License-Identifier: MIT
// How a SqliteStore is opened.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "cache/sqlite/data_dir.h"
#include "cache/sqlite/session/writer.h"

namespace kiln::cache::sqlite {

struct SqliteOptions {
  std::filesystem::path dir;
  std::string vfs;       // tests inject faults here
  uint32_t readers = 0;  // 0: min(16, 2 x cores)
  int64_t negative_ttl_s = int64_t{24} * 3600;
  int64_t max_age_s = 0;  // of records that nobody uses; 0: they stay while there is room
  uint64_t sent_bytes = uint64_t{10} << 30;  // of content that no record names (sent_content.h)
  // What no put leads beyond, of what is stored and what waits to be; 0: whatever the disk holds.
  uint64_t max_bytes = 0;
  Writer::Options writer;
  // Run as `PROGRAM --salvage FILE --into DIR` to read a damaged file (SalvageApart): what crashes
  // it does not crash this process. Empty: it is read here.
  std::string salvage_program;
  FileSystemType file_system_type = StatFileSystemType;
  // kFailedPrecondition with reason LOCKED instead of a read-only store when another process owns
  // the directory.
  bool must_own = false;
  // Never takes the lock and changes nothing: for looking at the store of another process.
  bool read_only = false;
};

}  // namespace kiln::cache::sqlite
