// SPDX-License-Identifier: MIT
// A file is one put: items one after the other, then XXH3-128 of them.
//   item: u8 level, u32 space, id, u32 refs, id*, u64 size, bytes
// Its name is NUMBER.put, or NUMBER-PRINCIPAL.put of one who is not the owner of the daemon, whose
// name it has as the first 64 bits of a digest. One thread replays the queue from the front;
// callers append to its end. An entry is in memory or in a file, never in both, and is numbered by
// its place, so the files of an earlier process come first. Mutex: the queue, the counts and what
// is waited for; nothing is sent while it is held, but small files are written.
#include "cache/decorators/journalling_store.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "cache/leases/on_behalf.h"
#include "cache/wait.h"
#include "compiler/base/files/own_folder.h"
#include "compiler/base/hash/checksum.h"

namespace kiln::cache {
namespace {

constexpr std::string_view kExtension = ".put";
constexpr size_t kOwnerDigits = 16;
constexpr Duration kTellEvery = std::chrono::minutes(1);

template <class T>
void AppendBytes(Bytes& out, const T& value) {
  const ByteView bytes = std::as_bytes(std::span(&value, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

Bytes Encode(std::span<const Item> items) {
  Bytes out;
  for (const Item& item : items) {
    AppendBytes(out, static_cast<uint8_t>(item.key.level));
    AppendBytes(out, item.key.space);
    AppendBytes(out, item.key.id.bytes);
    AppendBytes(out, static_cast<uint32_t>(item.refs.size()));
    for (const Hash128& ref : item.refs) {
      AppendBytes(out, ref.bytes);
    }
    AppendBytes(out, uint64_t{item.value.bytes.size()});
    out.insert(out.end(), item.value.bytes.begin(), item.value.bytes.end());
  }
  // The sum is computed over everything in front of it and tells a file that was cut off.
  AppendBytes(out, Checksum(out).bytes);
  return out;
}

// Files may be hostile: everything is bounded by the bytes that are left.
class Reader {
 public:
  explicit Reader(ByteView bytes) : left_(bytes) {}

  template <class T>
  bool Read(T& value) {
    if (left_.size() < sizeof(T)) {
      return false;
    }
    std::memcpy(&value, left_.data(), sizeof(T));
    left_ = left_.subspan(sizeof(T));
    return true;
  }
  bool Read(uint64_t size, ByteView& bytes) {
    if (left_.size() < size) {
      return false;
    }
    bytes = left_.first(size);
    left_ = left_.subspan(size);
    return true;
  }
  bool done() const { return left_.empty(); }

 private:
  ByteView left_;
};

bool ReadItem(Reader& reader, Item& item) {
  uint8_t level = 0;
  uint32_t refs = 0;
  uint64_t size = 0;
  ByteView bytes;
  if (!reader.Read(level) || level >= kLevelCount || !reader.Read(item.key.space) ||
      !reader.Read(item.key.id.bytes) || !reader.Read(refs)) {
    return false;
  }
  item.key.level = static_cast<Level>(level);
  // A count that lies ends with the bytes: nothing is reserved for it.
  for (uint32_t i = 0; i < refs; ++i) {
    Hash128 ref;
    if (!reader.Read(ref.bytes)) {
      return false;
    }
    item.refs.push_back(ref);
  }
  if (!reader.Read(size) || !reader.Read(size, bytes)) {
    return false;
  }
  item.value = CopiedBlob(bytes);
  // Sums are not in the file: they follow from key and bytes, and the sum of the whole has been
  // compared.
  item.value.sum =
      item.key.level == Level::kContent ? ContentSum(item.key.id, bytes) : RowSum(item.key, bytes);
  return true;
}

std::optional<std::vector<Item>> Decode(ByteView bytes) {
  Hash128 sum;
  if (bytes.size() < sizeof(sum.bytes)) {
    return std::nullopt;
  }
  // The sum stands at the end, so a file that a crash has cut short has a wrong one.
  const ByteView body = bytes.first(bytes.size() - sizeof(sum.bytes));
  std::memcpy(sum.bytes.data(), bytes.data() + body.size(), sizeof(sum.bytes));
  if (Checksum(body) != sum) {
    return std::nullopt;
  }
  std::vector<Item> items;
  for (Reader reader(body); !reader.done();) {
    if (!ReadItem(reader, items.emplace_back())) {
      return std::nullopt;
    }
  }
  return items;
}

// The upstream rejected the items themselves, so asking again changes nothing.
bool IsRefusal(const Error& error) {
  return error.code == ErrorCode::kInvalidArgument ||
         error.code == ErrorCode::kFailedPrecondition || error.code == ErrorCode::kAlreadyExists ||
         error.code == ErrorCode::kCorrupt;
}

// Whoever the thread works for, as files name him.
std::string OwnerOfPut() {
  const std::string principal = OnBehalfOf::Principal();
  return principal == OwnerName({}) ? std::string()
                                    : HashBytes(AsBytes(principal)).hex().substr(0, kOwnerDigits);
}

// What says that two puts of one principal are of the same thing. Everybody has his own copy, so
// nobody waits for what another one's puts push out.
Hash128 RowOf(const std::string& owner, const Key& key) {
  Bytes bytes;
  AppendBytes(bytes, static_cast<uint8_t>(key.level));
  AppendBytes(bytes, key.space);
  AppendBytes(bytes, key.id.bytes);
  bytes.insert(bytes.end(), AsBytes(owner).begin(), AsBytes(owner).end());
  return HashBytes(bytes);
}

// The rows of a put, or, of one that has content alone, its items: what it is put for.
std::vector<const Item*> RowsOf(std::span<const Item> items) {
  std::vector<const Item*> rows;
  for (const bool content : {false, true}) {
    for (const Item& item : items) {
      if ((item.key.level == Level::kContent) == content) {
        rows.push_back(&item);
      }
    }
    if (!rows.empty()) {
      break;
    }
  }
  return rows;
}

// The items without these rows, and without the content that only they name.
std::vector<Item> Without(std::span<const Item> items, const std::set<const Item*>& left_out) {
  std::set<Hash128> named, unnamed;
  for (const Item& item : items) {
    (left_out.contains(&item) ? unnamed : named).insert(item.refs.begin(), item.refs.end());
  }
  std::vector<Item> kept;
  for (const Item& item : items) {
    const bool goes =
        left_out.contains(&item) || (item.key.level == Level::kContent &&
                                     unnamed.contains(item.key.id) && !named.contains(item.key.id));
    if (!goes) {
      kept.push_back(item);
    }
  }
  return kept;
}

// NUMBER or NUMBER-PRINCIPAL, as FileOf writes it.
struct FileName {
  uint64_t number = 0;
  std::string owner;
};
std::optional<FileName> ParseName(const std::string& stem) {
  const size_t dash = stem.find('-');
  const std::string number = stem.substr(0, dash);
  const std::string owner = dash == std::string::npos ? std::string() : stem.substr(dash + 1);
  const bool is_whole = !number.empty() && number.size() < 19 &&
                        number.find_first_not_of("0123456789") == std::string::npos &&
                        (dash == std::string::npos ||
                         (owner.size() == kOwnerDigits &&
                          owner.find_first_not_of("0123456789abcdef") == std::string::npos));
  return is_whole ? std::optional(FileName{.number = std::stoull(number), .owner = owner})
                  : std::nullopt;
}

}  // namespace

JournallingStore::JournallingStore(BlobStore& below, Clock& clock, Options options)
    : below_(below),
      clock_(clock),
      options_(std::move(options)),
      bytes_(options_.max_bytes),
      rows_(options_.max_rows) {
  (void)MakeFolders(options_.dir.string(), 0700);  // the first write says what is wrong
  ListFiles();
  thread_ = Thread({.name = "upstream journal"}, [this](const std::stop_token&) {
    LearnRows();
    Replay();
  });
}

JournallingStore::~JournallingStore() {
  {
    const MutexLock lock(mutex_);
    ended_ = true;
    changed_.NotifyAll();
  }
  // Ends a call that the thread is in; then it sees the flag.
  stop_.request_stop();
  thread_.join();
  const MutexLock lock(mutex_);
  // What was not sent is written to files, from which the next process goes on.
  for (auto& [number, entry] : queue_) {
    Spool(entry);
  }
}

std::filesystem::path JournallingStore::FileOf(const Entry& entry) const {
  return options_.dir / (std::to_string(entry.number) + (entry.owner.empty() ? "" : "-") +
                         entry.owner + std::string(kExtension));
}

// Reads the files that an earlier process left.
void JournallingStore::ListFiles() {
  const MutexLock lock(mutex_);
  std::error_code error;
  // A folder that cannot be read on ends the list: a store is never an error (spec/cache 1.3), so
  // nothing here throws.
  std::filesystem::directory_iterator file(options_.dir, error);
  for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
    // Anything else in the folder is left alone, a ".part" of a writer that died as well.
    const std::optional<FileName> name = file->path().extension() == kExtension
                                             ? ParseName(file->path().stem().string())
                                             : std::nullopt;
    std::error_code gone;
    const uintmax_t size = file->file_size(gone);
    // What has no size is no file any more, or never was one.
    if (name.has_value() && !gone && !queue_.contains(name->number)) {
      Entry& entry = queue_[name->number];
      entry.number = name->number;
      entry.size = size;
      entry.owner = name->owner;
      of_owner_[entry.owner].insert(entry.number);
      bytes_.Add(entry.owner, size);
      next_ = std::max(next_, entry.number + 1);
    }
  }
  std::set<std::string> owners;
  for (const auto& [owner, entries] : of_owner_) {
    owners.insert(owner);
  }
  for (const std::string& owner : owners) {
    Shrink(owner);
  }
}

// By the thread that replays, before it does: what the files of an earlier process are of. Reads
// the queue once, a GiB at most.
void JournallingStore::LearnRows() {
  std::vector<Entry> files;
  {
    const MutexLock lock(mutex_);
    for (const auto& [number, entry] : queue_) {
      files.push_back(
          {.number = number, .size = entry.size, .owner = entry.owner, .rows = {}, .bytes = {}});
    }
  }
  for (const Entry& file : files) {
    const std::optional<std::vector<Item>> items = Decode(ReadFile(file));
    const MutexLock lock(mutex_);
    const auto entry = queue_.find(file.number);
    if (ended_) {
      return;
    }
    if (!items.has_value() || entry == queue_.end() || !entry->second.rows.empty()) {
      continue;  // damaged: it is refused when its turn comes
    }
    std::vector<Hash128> rows;
    for (const Item* const row : RowsOf(*items)) {
      rows.push_back(RowOf(file.owner, row->key));
    }
    Remember(entry->second, std::move(rows));
    Shrink(file.owner);
  }
}

// Moves an entry to its file. One that cannot be written stays in memory.
void JournallingStore::Spool(Entry& entry) {
  if (!entry.bytes.has_value()) {
    return;
  }
  const std::filesystem::path file = FileOf(entry);
  // Written under another name and renamed, so a file of the queue is whole or absent.
  const std::filesystem::path part = file.string() + ".part";
  std::ofstream out(part, std::ios::binary);
  out.write(reinterpret_cast<const char*>(entry.bytes->data()),
            static_cast<std::streamsize>(entry.bytes->size()));
  out.close();
  std::error_code error;
  if (out.good()) {
    std::filesystem::rename(part, file, error);
  }
  if (!out.good() || error) {
    std::filesystem::remove(part, error);
    return;
  }
  in_memory_ -= entry.size;
  entry.bytes.reset();
}

void JournallingStore::Remember(Entry& entry, std::vector<Hash128> rows) {
  for (const Hash128& row : rows) {
    waiting_.insert_or_assign(row, entry.number);
  }
  rows_.Add(entry.owner, rows.size());
  entry.rows = std::move(rows);
}

uint64_t JournallingStore::Append(Bytes bytes, std::string owner, std::vector<Hash128> rows) {
  const uint64_t number = next_++;
  Entry& entry = queue_[number];
  entry.number = number;
  entry.size = bytes.size();
  entry.owner = std::move(owner);
  entry.bytes = std::move(bytes);
  in_memory_ += entry.size;
  bytes_.Add(entry.owner, entry.size);
  of_owner_[entry.owner].insert(number);
  Remember(entry, std::move(rows));
  return number;
}

// It has been sent, or is dropped.
void JournallingStore::Remove(Queue::iterator gone) {
  const Entry entry = std::move(gone->second);
  queue_.erase(gone);
  in_memory_ -= entry.bytes.has_value() ? entry.size : 0;
  bytes_.Remove(entry.owner, entry.size);
  rows_.Remove(entry.owner, entry.rows.size());
  for (const Hash128& row : entry.rows) {
    if (const auto known = waiting_.find(row);
        known != waiting_.end() && known->second == entry.number) {
      waiting_.erase(known);
    }
  }
  const auto owners = of_owner_.find(entry.owner);
  owners->second.erase(entry.number);
  if (owners->second.empty()) {
    of_owner_.erase(owners);
  }
  std::error_code error;
  std::filesystem::remove(FileOf(entry), error);
  status_.lost = queue_.empty() ? 0 : status_.lost;
}

// The oldest put of whoever has most, of those who stand in the way of this one. The oldest has
// waited longest and is most likely to have been made again elsewhere.
JournallingStore::Queue::iterator JournallingStore::NextToDrop(const OwnerShares& shares,
                                                               const std::string& owner) {
  const std::set<uint64_t>* worst = nullptr;
  uint64_t most = 0;
  for (const auto& [other, entries] : of_owner_) {
    if (shares.StandsInTheWay(other, owner) && (worst == nullptr || shares.Of(other) > most)) {
      worst = &entries;
      most = shares.Of(other);
    }
  }
  return worst == nullptr ? queue_.end() : queue_.find(*worst->begin());
}

// The upstream is a cache, so a put that is dropped costs a miss there.
void JournallingStore::Shrink(const std::string& owner) {
  for (const OwnerShares* const shares : {&bytes_, &rows_}) {
    while (!shares->Fits(owner)) {
      const auto dropped = NextToDrop(*shares, owner);
      if (dropped == queue_.end()) {
        break;
      }
      ++status_.dropped;
      ++status_.lost;
      Answer(dropped->first, Error{.code = ErrorCode::kFull, .context = "the queue is full"});
      Remove(dropped);
    }
  }
  TellDrops();
}

void JournallingStore::TellDrops() {
  const Duration now = clock_.Monotonic();
  if (status_.dropped == told_ || options_.on_drop == nullptr ||
      (told_at_.has_value() && now - *told_at_ < kTellEvery)) {
    return;
  }
  options_.on_drop(status_.dropped - std::exchange(told_, status_.dropped));
  told_at_ = now;
}

// Requires: the mutex.
void JournallingStore::Answer(uint64_t number, Result<PutResult> stored) {
  if (const auto waiting = waited_for_.find(number); waiting != waited_for_.end()) {
    waiting->second.answer = std::move(stored);
    changed_.NotifyAll();
  }
}

// What waits already is not put once more: a caller who repeats himself while the upstream is down
// would fill the queue with one result. A quorum waits for the entries that have it.
Result<PutResult> JournallingStore::Put(std::span<const Item> items, Durability durability,
                                        const Call& call) {
  const StopWakes wakes(call.stop, mutex_, changed_);
  const std::string owner = OwnerOfPut();
  std::vector<std::pair<const Item*, Hash128>> rows;
  for (const Item* const row : RowsOf(items)) {
    rows.emplace_back(row, RowOf(owner, row->key));
  }
  // Before the mutex: the cost of encoding is the caller's. As a rule nothing of it waits.
  Bytes bytes = Encode(items);
  const MutexLock lock(mutex_);
  std::set<uint64_t> entries;  // that have all of it
  std::set<const Item*> known;
  std::vector<Hash128> fresh;
  for (const auto& [item, row] : rows) {
    if (const auto found = waiting_.find(row); found != waiting_.end()) {
      entries.insert(found->second);
      known.insert(item);
    } else {
      fresh.push_back(row);
    }
  }
  uint64_t number = 0;
  if (!fresh.empty()) {
    number = Append(known.empty() ? std::move(bytes) : Encode(Without(items, known)), owner,
                    std::move(fresh));
    entries.insert(number);
  }
  // A quorum write needs the upstream's answer. All others are answered as soon as they are queued.
  const bool waits = durability == Durability::kQuorum;
  for (const uint64_t entry : entries) {
    if (waits) {
      ++waited_for_[entry].waiters;
    }
  }
  if (number != 0) {
    // While the upstream answers, entries live in memory for milliseconds and need no file.
    if (status_.offline || in_memory_ > options_.memory_bytes) {
      Spool(queue_[number]);
    }
    Shrink(owner);
    changed_.NotifyAll();
  }
  return waits ? WaitFor(entries, call) : PutResult{};
}

Result<PutResult> JournallingStore::WaitFor(const std::set<uint64_t>& numbers, const Call& call) {
  const auto answered = [&](uint64_t number) KILN_REQUIRES(mutex_) {
    return waited_for_[number].answer.has_value();
  };
  Result<void> waited;
  Result<PutResult> all = PutResult{};
  for (const uint64_t number : numbers) {
    // An upstream that does not answer is told at once, not after the deadline.
    while (!answered(number) && !status_.offline && !ended_ && waited.ok()) {
      waited = WaitOnce(changed_, mutex_, clock_, call);
    }
    Waited& entry = waited_for_[number];
    if (all.ok()) {
      all = entry.answer.has_value() ? *entry.answer
                                     : Error{.code = ErrorCode::kUnavailable,
                                             .context = "the upstream did not acknowledge",
                                             .reason = std::string(kUpstreamDown)};
    }
    if (--entry.waiters == 0) {
      waited_for_.erase(number);
    }
  }
  return all;
}

// A file that vanished reads as zeros, does not decode, and is dropped as refused.
Bytes JournallingStore::ReadFile(const Entry& entry) const {
  Bytes read(std::min(entry.size, options_.max_bytes));
  std::ifstream file(FileOf(entry), std::ios::binary);
  file.read(reinterpret_cast<char*>(read.data()), static_cast<std::streamsize>(read.size()));
  return read;
}

// Without the mutex: the upstream may take its whole deadline.
Result<PutResult> JournallingStore::Send(const Entry& entry) {
  const std::optional<std::vector<Item>> items =
      Decode(entry.bytes.has_value() ? *entry.bytes : ReadFile(entry));
  if (!items.has_value()) {
    return Error{.code = ErrorCode::kCorrupt, .context = "a queued put is damaged"};
  }
  return below_.Put(
      *items, Durability::kDurable,
      {.stop = stop_.get_token(), .deadline = clock_.Monotonic() + options_.deadline});
}

// False: it is over.
bool JournallingStore::WaitForWork() {
  const MutexLock lock(mutex_);
  for (;;) {
    if (ended_) {
      return false;
    }
    const Duration now = clock_.Monotonic();
    if (!queue_.empty() && now >= retry_at_) {
      return true;
    }
    if (queue_.empty()) {
      changed_.Wait(mutex_);
    } else {
      (void)changed_.WaitFor(mutex_, retry_at_ - now);
    }
  }
}

void JournallingStore::Replay() {
  while (WaitForWork()) {
    Entry entry;
    {
      const MutexLock lock(mutex_);
      if (queue_.empty()) {
        continue;
      }
      // Copied, because Shrink may drop the front while this sends it.
      entry = queue_.begin()->second;
    }
    Result<PutResult> stored = Send(entry);
    const MutexLock lock(mutex_);
    const bool refused = !stored.ok() && IsRefusal(stored.error());
    status_.offline = !stored.ok() && !refused;
    // The entry stays at the front and is tried again: order is kept, and a row never overtakes its
    // content.
    if (status_.offline) {
      retry_at_ = clock_.Monotonic() + options_.retry;
      changed_.NotifyAll();  // who waits for the upstream need not
      continue;
    }
    ++(refused ? status_.refused : status_.sent);
    Answer(entry.number, std::move(stored));
    if (const auto sent = queue_.find(entry.number); sent != queue_.end()) {  // else it was dropped
      Remove(sent);
    }
  }
}

JournallingStore::Status JournallingStore::status() {
  const MutexLock lock(mutex_);
  Status status = status_;
  status.queued = queue_.size();
  status.bytes = bytes_.all();
  return status;
}

}  // namespace kiln::cache
