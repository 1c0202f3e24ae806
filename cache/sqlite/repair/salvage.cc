// SPDX-License-Identifier: MIT
// Row by row, with verified reads only. Two steps, in a child process of the daemon (SalvageApart):
// content, records and aliases by pages of row numbers, then batches and pins by their tables. The
// new file is an ordinary store, to which everything is put as if it came from outside.
#include "cache/sqlite/repair/salvage.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "cache/compression/codec.h"
#include "cache/compression/content_blocks.h"
#include "cache/record.h"
#include "cache/sqlite/repair/header_repair.h"
#include "cache/sqlite/session/read_statements.h"
#include "cache/sqlite/tables/batch_table.h"
#include "cache/sqlite/tables/lease_tables.h"
#include "compiler/base/threads/child_process.h"

namespace kiln::cache::sqlite {
namespace {

constexpr int64_t kPageRows = 256;
constexpr uint64_t kPageBytes = uint64_t{4} << 20;
constexpr std::string_view kWhyFile = "why";
}  // namespace

// The numbers of rows are signed and may be anything in a damaged file: what would be behind the
// largest one is the end.
std::optional<int64_t> BehindHole(int64_t last, int hole) {
  int64_t behind = 0;
  if (hole >= kMostHoles || __builtin_add_overflow(last, uint64_t{1} << hole, &behind)) {
    return std::nullopt;
  }
  return behind;
}

namespace {

// No row of the old file is trusted: what is copied was read by the same functions, and verified by
// the same sums, as what is served.
class RowSalvage {
 public:
  RowSalvage(Connection& connection, ReadStatements& reads, BlobStore& to,
             const std::stop_token& stop)
      : connection_(connection), reads_(reads), to_(to), stop_(stop) {}

  // In the order in which a put accepts them: content, records, aliases. What is refused has lost
  // what it needs.
  void Blobs() {
    EachId("SELECT rid, id, 0, 0 FROM blob WHERE rid>?1 ORDER BY rid LIMIT ?2", [this](Key key) {
      key.level = Level::kContent;
      const Result<std::optional<Blob>> blob = reads_.FindBlob(key.id);
      if (!blob.ok() || !blob->has_value()) {
        return;
      }
      const Result<std::optional<Finding>> finding = reads_.CheckContent(key.id, **blob);
      if (finding.ok() && !finding->has_value()) {
        AddContent({.key = key, .value = WithoutDictionary(**blob)});
      }
    });
    PutContents();
  }

  // A record whose content was lost is refused by the put and stays behind: the next request makes
  // it again.
  void Records() {
    EachId(
        "SELECT eid, key, space, level FROM entry WHERE eid>?1 ORDER BY eid LIMIT ?2",
        [this](const Key& key) {
          const Result<std::optional<StoredRow>> row = reads_.FindRow(key);
          if (!row.ok() || !row->has_value()) {
            return;
          }
          const Result<std::optional<Finding>> finding = reads_.CheckRow(key, **row);
          if (!finding.ok() || finding->has_value()) {
            return;
          }
          Item item{.key = key, .value = (*row)->value, .refs = {}};
          const Result<RowSummary> summary = SummarizeRow(key.level, item.value.bytes);
          for (const Product& product : summary.ok() ? summary->products : std::vector<Product>()) {
            item.refs.push_back(product.digest.id);
          }
          Add(std::move(item), salvaged_.records);
        });
  }

  // Aliases have no row number; the signature records lead to them.
  void Aliases() {
    EachId(
        "SELECT eid, key, space, level FROM entry WHERE eid>?1 AND level=3 ORDER BY eid LIMIT ?2",
        [this](const Key& record) { AliasesOf(record); });
  }

  SalvageReport Finish() {
    PutPending();
    return salvaged_;
  }

 private:
  // Dictionaries stay behind: the new file trains its own.
  Blob WithoutDictionary(const Blob& stored) {
    if (stored.codec != Codec::kZstdDictionary) {
      return stored;
    }
    const Result<Blob> raw = reads_.Decode(stored);
    return raw.ok() ? Compress(*raw) : stored;
  }

  // Content that lay in blocks comes raw, one behind the other, and goes into blocks again.
  void AddContent(Item item) {
    if (item.value.codec != Codec::kRaw) {
      Add(std::move(item), salvaged_.blobs);
      return;
    }
    content_bytes_ += item.value.bytes.size();
    contents_.push_back(std::move(item));
    if (content_bytes_ >= kPageBytes) {
      PutContents();
    }
  }

  // Contents depend on nothing, so one that is refused is alone in being wrong: then they are put
  // one by one.
  void PutContents() {
    const std::vector<Item> contents = std::exchange(contents_, {});
    content_bytes_ = 0;
    if (contents.empty()) {
      return;
    }
    if (to_.Put(InBlocks(contents, nullptr), Durability::kDurable, {.stop = stop_}).ok()) {
      salvaged_.blobs += contents.size();
      return;
    }
    for (const Item& item : contents) {
      Add(item, salvaged_.blobs);
    }
    PutPending();
  }

  // Calls back for every row of a query by ascending number, jumping over what cannot be read.
  void EachId(std::string_view sql, const std::function<void(const Key&)>& each) {
    Result<Statement> statement = connection_.Prepare(sql);
    int64_t last = 0;
    // `last` is the highest number that was read, so every round moves on; damaged rows cannot make
    // it go back.
    int hole = 0;   // failures one behind the other
    int holes = 0;  // all of them
    while (statement.ok() && holes < kMostHoles && !stop_.stop_requested()) {
      std::vector<std::pair<int64_t, Key>> rows;
      bool failed = false;
      {
        Query query(*statement);
        query.Bind(last).Bind(kPageRows);
        Result<bool> found = query.Next();
        for (; found.ok() && *found; found = query.Next()) {
          const int64_t level = query.Int(3);
          if (level >= 0 && level < int64_t{kLevelCount}) {
            rows.emplace_back(query.Int(0), Key{.level = static_cast<Level>(level),
                                                .space = static_cast<uint32_t>(query.Int(2)),
                                                .id = query.Id(1).value_or(Hash128{})});
          }
          last = std::max(last, query.Int(0));
        }
        failed = !found.ok();
      }
      for (const auto& [number, key] : rows) {
        each(key);
      }
      PutPending();
      if (!failed && rows.empty()) {
        return;
      }
      if (!failed) {
        hole = 0;
        continue;
      }
      // The stretch behind the last row that was read cannot be read. The distance doubles with
      // each failure, so a hole of any size is crossed in some sixty steps, at the price of rows
      // behind it.
      const std::optional<int64_t> behind = BehindHole(last, hole++);
      if (!behind.has_value()) {
        return;
      }
      last = *behind;
      ++holes;
    }
  }

  // The alias was written for this record if its sum says so (spec/cache 6.6).
  void AliasesOf(const Key& record) {
    const Result<std::optional<StoredRow>> row = reads_.FindRow(record);
    Result<Statement> statement =
        connection_.Prepare("SELECT key, sum FROM alias WHERE eid=?1 AND space=?2");
    if (!row.ok() || !row->has_value() || !statement.ok()) {
      return;
    }
    Query query(*statement);
    query.Bind((*row)->eid).Bind(int64_t{record.space});
    for (Result<bool> found = query.Next(); found.ok() && *found; found = query.Next()) {
      const Hash128 alias = query.Id(0).value_or(Hash128{});
      if (AliasSum(record.space, alias, record.id) == query.Int(1)) {
        Add(AliasItem(record.space, alias, record.id), salvaged_.aliases);
      }
    }
  }

  void Add(Item item, uint64_t& count) {
    pending_bytes_ += item.value.bytes.size();
    pending_.push_back({std::move(item), &count});
    if (pending_bytes_ >= kPageBytes) {
      PutPending();
    }
  }

  // Items go one by one: a record whose content was lost must not take others with it.
  void PutPending() {
    for (const auto& [item, count] : pending_) {
      // One durable put for each page waits for the ones before it.
      const bool last = &item == &pending_.back().first;
      const Result<PutResult> stored = to_.Put(
          std::span(&item, 1), last ? Durability::kDurable : Durability::kRelaxed, {.stop = stop_});
      *count += stored.ok() ? 1 : 0;
    }
    pending_.clear();
    pending_bytes_ = 0;
  }

  Connection& connection_;
  ReadStatements& reads_;
  BlobStore& to_;
  const std::stop_token& stop_;
  SalvageReport salvaged_;
  std::vector<Item> contents_;
  uint64_t content_bytes_ = 0;
  std::vector<std::pair<Item, uint64_t*>> pending_;
  uint64_t pending_bytes_ = 0;
};

}  // namespace

// Nothing here fails as a whole. Whatever cannot be read is missing from the report and from the
// new file.
SalvageReport SalvageInto(const std::string& from, const std::string& vfs, BlobStore& to,
                          const std::stop_token& stop) {
  Result<Connection> connection = Connection::Open(from, OpenMode::kReadOnly, vfs);
  if (!connection.ok() || !connection->QueryInt("PRAGMA user_version").ok()) {
    return {};
  }
  Result<ReadStatements> reads = ReadStatements::Prepare(*connection);
  if (!reads.ok()) {
    return {};
  }
  RowSalvage salvage(*connection, *reads, to, stop);
  // Each step refers to what the one before has put: the new store takes no row whose references it
  // does not have.
  salvage.Blobs();
  salvage.Records();
  salvage.Aliases();
  return salvage.Finish();
}

namespace {

Result<std::vector<Key>> ReadPinned(Connection& connection, const std::string& pin) {
  KILN_TRY(Statement statement,
           connection.Prepare("SELECT e.space, e.level, e.key FROM pin JOIN pin_entry USING (pin)"
                              " JOIN entry AS e USING (eid) WHERE pin.name=?1"));
  Query query(statement);
  query.Bind(std::string_view(pin));
  std::vector<Key> keys;
  KILN_TRY([[maybe_unused]] const int64_t rows, query.EachRow([&](const Query& row) {
    if (const std::optional<Hash128> id = row.Id(2)) {
      keys.push_back({.level = static_cast<Level>(row.Int(1)),
                      .space = static_cast<uint32_t>(row.Int(0)),
                      .id = *id});
    }
  }));
  return keys;
}

// Batches and pins are not made again by anybody, so they are carried over even where content is
// lost. One that does not fit is left out.
Result<void> CopyBatches(Connection& connection, SqliteStore& to) {
  KILN_TRY(Statement statement,
           connection.Prepare("SELECT id, spec, state, counts, updated_s FROM batch"));
  Query query(statement);
  BatchTable table(to);
  const auto bytes = [&](int column) {
    return Bytes(query.Blob(column).begin(), query.Blob(column).end());
  };
  for (;;) {
    KILN_TRY(const bool found, query.Next());
    if (!found) {
      return {};
    }
    if (const std::optional<Hash128> id = query.Id(0)) {
      static_cast<void>(table.Put({.id = *id,
                                   .spec = bytes(1),
                                   .state = static_cast<uint32_t>(query.Int(2)),
                                   .counts = bytes(3),
                                   .updated_s = query.Int(4)}));
    }
  }
}

}  // namespace

// Pins whose records did not come over are pins of fewer records.
uint64_t SalvagePins(const std::string& from, const std::string& vfs, SqliteStore& to) {
  Result<Connection> connection = Connection::Open(from, OpenMode::kReadOnly, vfs);
  if (!connection.ok()) {
    return 0;
  }
  static_cast<void>(CopyBatches(*connection, to));
  const Result<std::vector<Pin>> pins = ReadPins(*connection);
  PinTable table(to);
  uint64_t count = 0;
  for (const Pin& pin : pins.ok() ? *pins : std::vector<Pin>()) {
    const Result<std::vector<Key>> keys = ReadPinned(*connection, pin.name);
    count += table.Add(pin, keys.ok() ? *keys : std::vector<Key>()).ok() ? 1 : 0;
  }
  return count;
}

namespace {

// What reading a damaged file and writing a new one may take; the new one is no larger than the old
// one and what its log holds.
ProcessLimits LimitsFor(const std::string& from) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(from, error);
  return {.memory_bytes = uint64_t{4} << 30,
          .cpu_seconds = 3600,
          .file_bytes = (error ? 0 : 2 * size) + (uint64_t{1} << 30),
          .open_files = 256,
          .processes = std::nullopt};  // its threads count
}

// The parent reads it when the child has failed.
void SayWhy(const std::string& into, const std::string& why) {
  std::ofstream(std::filesystem::path(into) / kWhyFile) << why;
}

}  // namespace

// Runs in a process of its own, which may crash or be killed for its time: the daemon that started
// it works on with an empty cache.
int SalvageApart(const std::string& from, const std::string& into, pid_t parent) {
  // Before the first byte of the damaged file is read: SQLite itself may run wild on it.
  if (const Result<void> confined = ConfineProcess(LimitsFor(from), parent); !confined.ok()) {
    std::error_code error;
    std::filesystem::create_directories(into, error);
    SayWhy(into, confined.error().context);
    return 1;
  }
  SystemClock clock;
  NullLog log;
  const Result<std::unique_ptr<SqliteStore>> to =
      SqliteStore::Open({.dir = into, .must_own = true}, clock, log);
  if (!to.ok()) {
    return 1;
  }
  const std::filesystem::path scratch = std::filesystem::path(into) / "mended";
  const Result<std::string> readable = MakeReadable(from, {}, scratch, clock);
  if (!readable.ok()) {
    SayWhy(into, readable.error().context);
    return 1;
  }
  (void)SalvageInto(*readable, {}, **to, {});
  (void)SalvagePins(*readable, {}, **to);
  std::error_code error;
  std::filesystem::remove_all(scratch, error);
  return (*to)->Flush().ok() ? 0 : 1;
}

std::string WhyNotSalvaged(const std::filesystem::path& into) {
  std::ifstream in(into / kWhyFile);
  std::string why;
  std::getline(in, why);
  return why;
}

// True if it went to its end. It is killed when the daemon stops, and begun anew by the next one.
bool StartSalvage(const std::string& program, const std::string& from, const std::string& into,
                  const std::stop_token& stop) {
  const Result<pid_t> started =
      StartChild({.path = program,
                  .words = {program, "--salvage", from, "--into", into, "--with-parent",
                            std::to_string(::getpid())},
                  .descriptors = {{.from = STDERR_FILENO, .to = STDERR_FILENO}}});
  if (!started.ok()) {
    return false;
  }
  const pid_t child = *started;
  int status = 0;
  // Looked at every ten milliseconds, because the stop must end the wait as well.
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (stop.stop_requested()) {
      (void)::kill(child, SIGKILL);
      (void)::waitpid(child, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace kiln::cache::sqlite
