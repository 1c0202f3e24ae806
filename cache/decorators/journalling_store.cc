// SPDX-License-Identifier: MIT
// A file is one put: items one after the other, then XXH3-128 of them.
//   item: u8 level, u32 space, id, u32 refs, id*, u64 size, bytes
// One thread replays the queue from the front; callers append to its end. An entry is in memory or
// in a file, never in both, and is numbered by its place, so the files of an earlier process come
// first. Mutex: the queue, the counts and what is waited for; nothing is sent while it is held, but
// small files are written.
#include "cache/decorators/journalling_store.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "cache/wait.h"
#include "compiler/base/files/own_folder.h"
#include "compiler/base/hash/checksum.h"

namespace kiln::cache {
namespace {

constexpr std::string_view kExtension = ".put";

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

}  // namespace

JournallingStore::JournallingStore(BlobStore& below, Clock& clock, Options options)
    : below_(below), clock_(clock), options_(std::move(options)) {
  (void)MakeFolders(options_.dir.string(), 0700);  // the first write says what is wrong
  ListFiles();
  thread_ = Thread({.name = "upstream journal"}, [this](const std::stop_token&) { Replay(); });
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
  for (Entry& entry : queue_) {
    Spool(entry);
  }
}

std::filesystem::path JournallingStore::FileOf(uint64_t number) const {
  return options_.dir / (std::to_string(number) + std::string(kExtension));
}

// Reads the files that an earlier process left.
void JournallingStore::ListFiles() {
  const MutexLock lock(mutex_);
  std::error_code error;
  // A folder that cannot be read on ends the list: a store is never an error (spec/cache 1.3), so
  // nothing here throws.
  std::filesystem::directory_iterator file(options_.dir, error);
  for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
    const std::string name = file->path().stem().string();
    // Anything else in the folder is left alone, a ".part" of a writer that died as well.
    if (file->path().extension() == kExtension && !name.empty() && name.size() < 19 &&
        name.find_first_not_of("0123456789") == std::string::npos) {
      std::error_code gone;
      const uintmax_t size = file->file_size(gone);
      // What has no size is no file any more, or never was one.
      if (!gone) {
        queue_.push_back({.number = std::stoull(name), .size = size, .bytes = {}});
      }
    }
  }
  std::sort(queue_.begin(), queue_.end(),
            [](const Entry& a, const Entry& b) { return a.number < b.number; });
  for (const Entry& entry : queue_) {
    status_.bytes += entry.size;
    next_ = entry.number + 1;
  }
  Shrink();
}

// Moves an entry to its file. One that cannot be written stays in memory.
void JournallingStore::Spool(Entry& entry) {
  if (!entry.bytes.has_value()) {
    return;
  }
  const std::filesystem::path file = FileOf(entry.number);
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

// The oldest goes first: it has waited longest and is most likely to have been made again
// elsewhere. The upstream is a cache, so a put that is dropped costs a miss there.
void JournallingStore::Shrink() {
  while (status_.bytes > options_.max_bytes && !queue_.empty()) {
    const Entry& oldest = queue_.front();
    status_.bytes -= oldest.size;
    in_memory_ -= oldest.bytes.has_value() ? oldest.size : 0;
    ++status_.dropped;
    std::error_code error;
    std::filesystem::remove(FileOf(oldest.number), error);
    Answer(oldest.number, Error{.code = ErrorCode::kFull, .context = "the queue is full"});
    queue_.pop_front();
  }
}

// Requires: the mutex.
void JournallingStore::Answer(uint64_t number, Result<PutResult> stored) {
  if (const auto waiting = waited_for_.find(number); waiting != waited_for_.end()) {
    waiting->second = std::move(stored);
    changed_.NotifyAll();
  }
}

Result<PutResult> JournallingStore::Put(std::span<const Item> items, Durability durability,
                                        const Call& call) {
  // A quorum write needs the upstream's answer. All others are answered as soon as they are queued.
  const bool waits = durability == Durability::kQuorum;
  const StopWakes wakes(call.stop, mutex_, changed_);
  // Before the mutex: the cost of encoding is the caller's.
  Bytes bytes = Encode(items);
  const MutexLock lock(mutex_);
  Entry& entry = queue_.emplace_back();
  entry.number = next_++;
  entry.size = bytes.size();
  entry.bytes = std::move(bytes);
  const uint64_t number = entry.number;
  status_.bytes += entry.size;
  in_memory_ += entry.size;
  if (waits) {
    waited_for_.emplace(number, std::nullopt);
  }
  // While the upstream answers, entries live in memory for milliseconds and need no file.
  if (status_.offline || in_memory_ > options_.memory_bytes) {
    Spool(entry);
  }
  Shrink();
  changed_.NotifyAll();
  if (!waits) {
    return PutResult{};
  }
  Result<void> waited;
  // An upstream that does not answer is told at once, not after the deadline.
  while (!waited_for_[number].has_value() && !status_.offline && !ended_ && waited.ok()) {
    waited = WaitOnce(changed_, mutex_, clock_, call);
  }
  std::optional<Result<PutResult>> answer = std::move(waited_for_[number]);
  waited_for_.erase(number);
  if (answer.has_value()) {
    return *std::move(answer);
  }
  return Error{.code = ErrorCode::kUnavailable,
               .context = "the upstream did not acknowledge",
               .reason = std::string(kUpstreamDown)};
}

// Without the mutex: the upstream may take its whole deadline.
Result<PutResult> JournallingStore::Send(const Entry& entry) {
  Bytes read;
  if (!entry.bytes.has_value()) {
    // A file that vanished reads as zeros, does not decode, and is dropped as refused.
    std::ifstream file(FileOf(entry.number), std::ios::binary);
    read.resize(std::min(entry.size, options_.max_bytes));
    file.read(reinterpret_cast<char*>(read.data()), static_cast<std::streamsize>(read.size()));
  }
  const std::optional<std::vector<Item>> items =
      Decode(entry.bytes.has_value() ? ByteView(*entry.bytes) : ByteView(read));
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
      entry = queue_.front();
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
    if (!queue_.empty() && queue_.front().number == entry.number) {  // else it was dropped
      status_.bytes -= entry.size;
      in_memory_ -= queue_.front().bytes.has_value() ? entry.size : 0;
      queue_.pop_front();
      std::error_code error;
      std::filesystem::remove(FileOf(entry.number), error);
    }
  }
}

JournallingStore::Status JournallingStore::status() {
  const MutexLock lock(mutex_);
  Status status = status_;
  status.queued = queue_.size();
  return status;
}

}  // namespace kiln::cache
