// SPDX-License-Identifier: MIT
// Copies what still verifies out of a damaged database. See spec/cache 6.7.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>

#include "cache/sqlite/database.h"
#include "cache/sqlite/sqlite_store.h"
#include "cache/store.h"

namespace kiln::cache::sqlite {

struct SalvageReport {
  uint64_t blobs = 0;
  uint64_t records = 0;
  uint64_t aliases = 0;
};

// How often stretches that cannot be read are jumped over.
inline constexpr int kMostHoles = 64;

// The number to go on behind, where reading fails behind row `last` for the `hole`-th time, from 0,
// one failure behind the other; nothing: no row can be there.
std::optional<int64_t> BehindHole(int64_t last, int hole);

// Reads `from` as far as it can be read and puts everything that verifies into `to`, content first.
// Never fails: what cannot be read or put is left out. Stops early when `stop` is requested.
SalvageReport SalvageInto(const std::string& from, const std::string& vfs, BlobStore& to,
                          const std::stop_token& stop);

// Copies what a person or the server wrote: pins with the records that are there again, and
// batches. Gives the number of pins. As above, never fails.
uint64_t SalvagePins(const std::string& from, const std::string& vfs, SqliteStore& to);

// Both into a new store in the directory `into`, from a mended copy if the file itself cannot be
// opened: the whole of a process that was started to read a damaged file, and that dies with
// `parent`, keeps limits and gains no privileges. Gives its exit status; if nothing can be read, or
// the process cannot be confined, the directory says why.
int SalvageApart(const std::string& from, const std::string& into, pid_t parent);
// What a SalvageApart that failed has left; empty if it died.
std::string WhyNotSalvaged(const std::filesystem::path& into);

// Starts such a process, as `PROGRAM --salvage FROM --into DIR --with-parent PID` and without
// environment, and waits for it. False: it could not be started, or died; what it had copied by
// then is in `into` all the same.
bool StartSalvage(const std::string& program, const std::string& from, const std::string& into,
                  const std::stop_token& stop);

}  // namespace kiln::cache::sqlite
