// SPDX-License-Identifier: MIT
// The packs that a daemon keeps: ordinary files in its data directory, a few of each principal, the
// one that was used least lately goes first. Those of the owner lie in the directory itself, those
// of another one in a folder of his below it, so that one pack may be there twice. Whoever reads a
// pack keeps it readable. See spec/daemon 4.4
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/pack/format.h"
#include "cache/pack/reader.h"
#include "cache/store.h"
#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"

namespace kiln::compile {

// An open file of the shelf; stays readable when the shelf gives the pack up.
class KeptPack {
 public:
  KeptPack(int fd, uint64_t size) : fd_(fd), size_(size) {}
  ~KeptPack();
  KeptPack(const KeptPack&) = delete;
  KeptPack& operator=(const KeptPack&) = delete;

  uint64_t size() const { return size_; }
  // Errors: kDataLoss, DAMAGED, if the file is shorter than it was or cannot be read.
  Result<std::string> Read(uint64_t offset, uint64_t size) const;

 private:
  const int fd_;
  const uint64_t size_;
};

// Threads: safe from any thread. One mutex guards the names; files are checked outside of it.
class PackShelf {
 public:
  static constexpr size_t kMaxPacks = 10;  // of one principal
  struct Options {
    size_t max_packs = kMaxPacks;
    uint64_t max_bytes = pack::kMaxFileBytes;  // of all, divided as cache::OwnerShares say
  };

  // Makes the directory when it is needed, and removes what an earlier process left half done.
  PackShelf(std::filesystem::path dir, const Options& options);

  // Where a pack may be written before it has a name.
  Result<std::string> NewFile();
  // Gives the file its name, and drops packs that are too many. `owner`: the principal
  // (cache/leases/actor.h) whose it is. Errors: those of the file system; kResourceExhausted,
  // LIMIT_EXCEEDED, for one that is larger than all that he may have.
  Result<void> Keep(const std::string& file, const Hash128& id, std::string_view owner);

  // Removes a file of NewFile; whether the shelf has that very pack already, from somebody else.
  bool HasInstead(const std::string& file, const Hash128& id) const;

  // Checks the whole file, once in a process. It was used now, if the call may write. Errors:
  // kNotFound, UNKNOWN_PACK; kDataLoss, DAMAGED.
  Result<std::shared_ptr<const KeptPack>> Open(const Hash128& id, const cache::Call& call);
  // With its bases, if they are on the shelf. Errors: as Open; kFailedPrecondition,
  // PACK_BASE_MISSING.
  Result<std::unique_ptr<pack::Pack>> OpenPack(const Hash128& id);

 private:
  // Empty: nobody has it.
  std::vector<std::filesystem::path> PathsOf(const Hash128& id) const;
  std::optional<std::filesystem::path> PathOf(const Hash128& id) const;
  std::filesystem::path FolderOf(std::string_view owner) const;
  Result<void> Check(const Hash128& id);
  void Trim(std::string_view owner, const std::filesystem::path& kept) KILN_REQUIRES(mutex_);
  void Drop(const std::filesystem::path& file) KILN_REQUIRES(mutex_);

  const std::filesystem::path dir_;
  const Options options_;
  Mutex mutex_;
  uint64_t next_file_ KILN_GUARDED_BY(mutex_) = 0;
  std::map<Hash128, std::pair<uint64_t, int64_t>> checked_
      KILN_GUARDED_BY(mutex_);  // size and time of change of files that are sound
};

}  // namespace kiln::compile
