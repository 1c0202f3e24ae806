// SPDX-License-Identifier: MIT
// The one interface of every store and of every decorator around a store: blobs by content id, rows
// by key, four functions. Callers cannot tell which store they have. See spec/cache 5.
//
// Threads: every function of every BlobStore may be called from any number of threads at once.
// Lifetime: a Blob keeps its bytes alive; a store must outlive the calls into it, not its blobs.
// Promises (spec/cache 1): bytes handed out were verified on this very read; a damaged, missing or
// unreachable item is kNotFound, never an error that a request has to fail for.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/clock.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"

namespace kiln::cache {

// What a key leads to (spec/cache 2.4). The numbers are stored; they are never reused.
enum class Level : uint8_t {
  kContent = 0,    // content id of raw bytes -> the bytes
  kModule = 1,     // module key -> ModuleRecord
  kMask = 2,       // mask key -> sorted option names
  kSignature = 3,  // signature key -> Record
  kRecipe = 4,     // recipe key -> Record
  kAlias = 5,      // variant or live key -> the 16 bytes of a signature key
};
inline constexpr uint32_t kLevelCount = 6;

// "content", "module", …
std::string_view LevelName(Level level);

// The size in the key of content that is asked for by its id alone.
inline constexpr uint64_t kAnySize = ~uint64_t{0};

// Spaces keep the rows of tenants apart. Content belongs to no space: its key has space 0.
struct Key {
  Level level = Level::kContent;
  uint32_t space = 0;
  Hash128 id;
  // Of content, in bytes: one of another size is not there. No part of what the key names.
  uint64_t size = kAnySize;

  friend bool operator==(const Key& a, const Key& b) {
    return a.level == b.level && a.space == b.space && a.id == b.id;
  }
  friend bool operator<(const Key& a, const Key& b) {
    return std::tie(a.level, a.space, a.id) < std::tie(b.level, b.space, b.id);
  }
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    return Hash128Hash{}(key.id) ^ (static_cast<size_t>(key.level) << 56) ^
           (static_cast<size_t>(key.space) << 24);
  }
};

// Content by its digest; a digest is id and size.
inline Key ContentKey(const Digest& digest) { return {.id = digest.id, .size = digest.size}; }
// The same by the id alone, where nobody has told the size.
inline Key ContentKey(const Hash128& id) { return {.id = id}; }

// Whether content of this size is what the key asks for.
inline bool HasSize(const Key& key, uint64_t size) {
  return key.level != Level::kContent || key.size == kAnySize || key.size == size;
}

// "signature/0/0aef25953033d800bca6c36a9de0ca3d"
std::string KeyText(const Key& key);

// How the bytes of a blob are written. The numbers are stored. Callers of the default stack only
// see kRaw: compressing_store and what is below it know the others. kBlock: the blob lies in a
// block, with others; one that a store hands out in this form could not be taken out of it.
enum class Codec : uint8_t { kRaw = 0, kZstd = 1, kZstdDictionary = 2, kBlock = 3 };

// Bytes and what keeps them alive. Cheap to copy.
struct Blob {
  ByteView bytes;
  std::shared_ptr<const void> owner;
  Codec codec = Codec::kRaw;
  uint64_t raw_size = 0;       // of the decoded bytes; bytes.size() for kRaw
  Hash128 sum;                 // RowSum of a row, ContentSum of content
  bool from_upstream = false;  // another machine had it
};

// A raw blob that owns the given bytes. Without a sum.
Blob OwnedBlob(Bytes bytes);
Blob CopiedBlob(ByteView bytes);

// Check sum of a row: XXH3-128 of space, level, id and value (spec/cache 6.3).
Hash128 RowSum(const Key& key, ByteView value);

// What content is compared with on every read: XXH3-128 of the raw bytes, with the id in it, so
// that content which took the place of other content shows. It is made once, together with the id
// or after the bytes were found to have it, and kept beside them (spec/cache 2.1).
Hash128 ContentSum(const Hash128& id, ByteView raw);

// One thing to put. Rows name the content they need in refs; content has none (spec/cache 5.2).
struct Item {
  Key key;
  Blob value;
  std::vector<Hash128> refs = {};
  // Of raw content that is to be stored in a block with other items of the call, as these bytes of
  // what is in the block. Known to compressing_store and to what is below it.
  std::shared_ptr<const Blob> block = {};
  uint64_t at = 0;
};

// Content under its own id, which is computed here.
Item ContentItem(Blob value);
// The same for a caller that computed the digest from these very bytes, or compared them with it.
Item ContentItem(const Digest& digest, Blob value);
// A row, with its sum. Requires: key.level is not kContent.
Item RowItem(const Key& key, Bytes value, std::vector<Hash128> refs = {});

enum class Durability : uint8_t {
  kRelaxed,  // returns at once; visible soon, may be lost
  kDurable,  // returns after fsync: survives kill -9 and loss of power (spec/cache 6.5)
  kQuorum,   // the same, and an upstream has it as well (spec/cache 7.2); without one as kDurable
};

struct PutResult {
  uint64_t added = 0;           // items that were new
  uint64_t present = 0;         // items that were there already with equal bytes
  uint64_t nondeterminism = 0;  // rows that were there with another result (spec/cache 4.5)
};

// On the scale of Clock::Monotonic.
using Deadline = Duration;

// How long a caller is willing to wait. A call that ends early returns kCancelled or
// kDeadlineExceeded; a Put that ended early may still happen.
struct Call {
  std::stop_token stop = {};
  Deadline deadline = Deadline::max();
  // False: for somebody who may look and not write. Nothing is put, remembered, touched or leased
  // for such a call, at any level of any store and of whatever builds over it.
  bool may_write = true;

  // The same call with another deadline: whoever makes a call of a call makes it so, or it may
  // write again.
  Call Until(Deadline other) const {
    return {.stop = stop, .deadline = other, .may_write = may_write};
  }
};

// A value larger than this is refused with kInvalidArgument.
inline constexpr uint64_t kMaxValueBytes = uint64_t{256} << 20;

class BlobStore {
 public:
  BlobStore() = default;
  BlobStore(const BlobStore&) = delete;
  BlobStore& operator=(const BlobStore&) = delete;
  virtual ~BlobStore() = default;

  // Verified bytes. Errors: kNotFound if absent, expired or damaged (the damage is reported to the
  // store's DamageSink and the item dropped); kCancelled, kDeadlineExceeded.
  virtual Result<Blob> Get(const Key& key, const Call& call) = 0;

  // Items of one call become visible together or not at all. Idempotent; the first value of a key
  // stays. Errors: kInvalidArgument if content does not have its id; kFailedPrecondition with
  // reason REFS_MISSING if a row names content that is neither stored nor in the call, or an alias
  // a signature that is not; READ_ONLY if this process or this call may not write; kAlreadyExists
  // with reason COLLISION (spec/cache 2.1.4); kFull; kBusy.
  virtual Result<PutResult> Put(std::span<const Item> items, Durability durability,
                                const Call& call) = 0;

  // The keys that are absent, in the order given; one round trip. Those reported present are kept
  // from eviction for 10 minutes if the call may write.
  virtual Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) = 0;

  // Marks as just used. A hint: may be dropped.
  virtual void Touch(std::span<const Key> keys) = 0;
};

// Reasons of Error that callers tell apart.
inline constexpr std::string_view kReadOnly = "READ_ONLY";
inline constexpr std::string_view kRefsMissing = "REFS_MISSING";
inline constexpr std::string_view kCollision = "COLLISION";
inline constexpr std::string_view kUpstreamDown = "UPSTREAM_UNREACHABLE";  // stored here only

enum class DamageKind : uint8_t { kBlob, kRecord, kAlias, kDangling, kDatabase, kIo, kUnfit };
inline constexpr uint32_t kDamageKindCount = 7;

// The label `what` of kiln_cache_corrupt_total: "blob", "record", …
std::string_view DamageKindName(DamageKind kind);

// kUnfit: a row that is sound in itself, and not what its key stands for: whoever put it was wrong
// or meant it. The reader says which one by `found.sum`.
struct Damage {
  DamageKind kind = DamageKind::kBlob;
  Key key;
  std::string reason;
  Blob found;  // what was read, as far as it was
};

// Where a reader says that a store handed out something that does not verify. The store that owns
// the item looks again, quarantines and drops it (spec/cache 6.7), an unfit one without a look. May
// be called from any thread; does not block.
class DamageSink {
 public:
  virtual ~DamageSink() = default;
  virtual void Report(const Damage& damage) = 0;
};

}  // namespace kiln::cache
