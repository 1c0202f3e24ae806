// SPDX-License-Identifier: MIT
// What is asked of and done to a whole store: numbers, faults, repair, collection, and every row in
// turn. See spec/cache 9
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "cache/store.h"

namespace kiln::cache {

struct LevelStats {
  uint64_t rows = 0;
  uint64_t bytes = 0;               // of values; of content: as stored
  std::array<uint64_t, 4> kinds{};  // by RecordKind; content, masks and aliases have none
};

struct StoreStats {
  std::string path;
  bool read_only = false;
  uint64_t file_bytes = 0;  // database and WAL
  uint64_t used_bytes = 0;  // pages in use
  std::array<LevelStats, kLevelCount> levels{};
  uint64_t raw_bytes = 0;      // of content, before compression
  uint64_t orphans = 0;        // content that no record names
  uint64_t code_distinct = 0;  // content that is code of some record
  uint64_t cost_us = 0;        // CPU time that made what is stored
  uint64_t pins = 0;
  uint64_t pinned_records = 0;
  uint64_t leases = 0;  // that have not ended
  uint64_t quarantined = 0;
  uint64_t explained = 0;                           // explain records
  std::array<uint64_t, kDamageKindCount> damage{};  // met by this process
};

// Kinds of faults; each is planted by a test. What repair does about each: FORMAT.md.
enum class FaultKind : uint8_t {
  kDatabase,    // the file is no sound database, or cannot be read
  kSchema,      // its tables are others
  kIndex,       // an index lacks rows or has others
  kBlob,        // content is not what its id says
  kBlobSize,    // content is right, size or codec beside it are not
  kRecord,      // a record has another sum, does not decode, or names other sizes
  kColumns,     // a record is right, what is written beside it is not
  kDangling,    // a record names content that is not there
  kReference,   // who keeps content alive is not who names it
  kAlias,       // an alias leads nowhere or elsewhere
  kPin,         // a pin holds a record that is not there
  kExplain,     // an explain record does not decode
  kDictionary,  // a dictionary is not what its row says
  kBlock,       // what is written beside a block is not its own, or no content lies in it
};
inline constexpr uint32_t kFaultKindCount = 14;

// "database", "blob_size", …
std::string_view FaultKindName(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::kDatabase;
  Key key;  // zero if it is about no row
  std::string detail;
  int64_t row = 0;  // the store's numbers for what is meant
  int64_t other_row = 0;
};

// "blob content/0/99aa…: content id differs"
std::string FaultText(const Fault& fault);

// Bytes that were hashed, or freed, so far, of how many; 0: not known.
using OnBytes = std::function<void(uint64_t done, uint64_t total)>;

struct VerifyOptions {
  bool fast = false;            // structure only: no content is hashed
  uint32_t sample_percent = 0;  // of content that is hashed; 0: all
  uint64_t seed = 0;            // which sample
  std::stop_token stop = {};
  // Of all that is to be hashed; where content is left out, nobody knows of how much.
  OnBytes on_bytes = [](uint64_t, uint64_t) {};
  uint64_t rows_between = 4096;  // calls of on_bytes
};

struct VerifyReport {
  uint64_t blobs = 0;
  uint64_t records = 0;
  uint64_t aliases = 0;
  uint64_t bytes = 0;         // that were hashed
  uint64_t orphans = 0;       // no fault: they go after their grace
  std::vector<Fault> faults;  // the first kMaxFaults
  uint64_t fault_count = 0;

  bool clean() const { return fault_count == 0; }
};
inline constexpr size_t kMaxFaults = 10'000;

struct RepairReport {
  VerifyReport before;
  VerifyReport after;
  uint64_t mended = 0;    // rows that stayed and are right now
  uint64_t dropped = 0;   // rows that could not be believed
  std::set<Key> lost;     // records that went with them; not known if the file was rebuilt
  bool rebuilt = false;   // the file was replaced by what verified of it
  std::string set_aside;  // where the old one is
};

struct GcOptions {
  std::optional<uint64_t> to_bytes;      // until the store uses at most so much
  std::optional<uint64_t> older_than_s;  // records not used for so long
  bool failed = false;                   // records of failures (spec/cache 4.3)
  // Not null: of the records that these options mean, those of these keys.
  std::shared_ptr<const std::set<Key>> among;
  bool vacuum = false;  // give free pages back to the file system
  bool dry_run = false;
  std::stop_token stop = {};
  OnBytes on_bytes = [](uint64_t, uint64_t) {};  // some times a second
};

// What keeps records from being removed.
struct Keeper {
  std::string owner;    // of a lease: "batch 7c1e…"
  int64_t until_s = 0;  // Unix
};

struct GcReport {
  uint64_t records = 0;  // removed, or that would be
  uint64_t bytes = 0;    // of them and of content that only they named
  uint64_t kept = 0;     // that were wanted but are leased or pinned
  uint64_t used_before = 0;
  uint64_t used_after = 0;
  // If more is used than was asked for:
  uint64_t pinned = 0;         // records under a pin
  int64_t kept_until_s = 0;    // when all others may go if nobody uses them again; Unix
  std::vector<Keeper> leases;  // the longest first, 8 at most
};

// Content or a row that was set aside because it was damaged or contradicted another.
struct QuarantineEntry {
  int64_t number = 0;  // ascends
  int64_t at_s = 0;    // Unix
  std::string what;    // blob, record, alias, nondeterminism, …
  Hash128 id;
  std::string reason;
};

struct RowFilter {
  std::string pin;                 // not empty: records of this pin and what leads to them
  std::optional<int64_t> since_s;  // used since then
};

// Threads: safe from any thread; the functions may take as long as the store is large.
class Maintenance {
 public:
  virtual ~Maintenance() = default;

  virtual Result<StoreStats> Stats() = 0;
  // Changes nothing. Errors: only if nothing can be said, kCancelled.
  virtual Result<VerifyReport> Verify(const VerifyOptions& options) = 0;
  // Afterwards Verify is clean, unless the disk fails; what verified before still does.
  // Errors: READ_ONLY, kCancelled, those of the disk.
  virtual Result<RepairReport> Repair(const std::stop_token& stop) = 0;
  // Never removes what is leased or pinned. Errors: READ_ONLY, kCancelled.
  virtual Result<GcReport> Gc(const GcOptions& options) = 0;
  // At most `limit`, latest first, below `before` if that is not 0.
  virtual Result<std::vector<QuarantineEntry>> ListQuarantine(int64_t before, uint32_t limit) = 0;
  // Calls back for every record and alias that verifies, in the order in which they may be put.
  // Errors: kNotFound for an unknown pin; those of the callback end the walk.
  virtual Result<void> EachRow(
      const RowFilter& filter,
      const std::function<Result<void>(const Key& key, ByteView value)>& each) = 0;
};

}  // namespace kiln::cache
