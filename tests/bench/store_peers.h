// SPDX-License-Identifier: MIT
// What the store is compared with: bare SQLite with the same schema, pragmas and transactions;
// plain files; one flat file with an index in memory. Each puts samples and gets content by id.
#pragma once

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sqlite3.h>

#include "cache/sqlite/database.h"
#include "cache/sqlite/schema_sql.h"
#include "tests/bench/store_samples.h"

namespace kiln::bench {

class BareSqlite {
 public:
  explicit BareSqlite(const std::filesystem::path& dir) {
    const std::string path = (dir / "bare.db").string();
    Check(sqlite3_open_v2(path.c_str(), &db_,
                          SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                          nullptr) == SQLITE_OK,
          "bare open");
    Run("PRAGMA page_size=16384; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL;"
        "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=2048; PRAGMA cache_size=-65536;"
        "PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON; PRAGMA secure_delete=OFF;"
        "PRAGMA mmap_size=0");
    Run(cache::sqlite::kSchemaSql);
    blob_ =
        Prepare("INSERT INTO blob (id, raw_size, codec, put_s, data) VALUES (?1, ?2, 0, 0, ?3)");
    entry_ = Prepare(
        "INSERT INTO entry (space, level, key, kind, used_q, cost_us, value, sum)"
        " VALUES (0, 3, ?1, 0, 0, 10, ?2, ?3)");
    ref_ = Prepare("INSERT INTO ref VALUES (?1, ?2)");
    alias_ = Prepare("INSERT INTO alias VALUES (0, ?1, ?2, 0)");
    // Gets have a connection of their own with the settings of a reader (spec/cache 6.2).
    Check(sqlite3_open_v2(path.c_str(), &reader_, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                          nullptr) == SQLITE_OK,
          "bare open");
    Check(sqlite3_exec(reader_,
                       "PRAGMA query_only=ON; PRAGMA cache_size=-16384; PRAGMA mmap_size=0;"
                       "PRAGMA cell_size_check=ON",
                       nullptr, nullptr, nullptr) == SQLITE_OK,
          "reader pragmas");
    Check(sqlite3_prepare_v2(reader_, "SELECT data FROM blob WHERE id=?1", -1, &get_, nullptr) ==
              SQLITE_OK,
          "prepare get");
  }
  BareSqlite(const BareSqlite&) = delete;
  BareSqlite& operator=(const BareSqlite&) = delete;
  ~BareSqlite() {
    for (sqlite3_stmt* statement : {blob_, entry_, ref_, alias_, get_}) {
      sqlite3_finalize(statement);
    }
    sqlite3_close(reader_);
    sqlite3_close(db_);
  }

  void Puts(const std::vector<Sample>& samples) {
    for (size_t i = 0; i < samples.size(); i += kPerPut) {
      Run("BEGIN IMMEDIATE");
      for (size_t j = i; j < std::min(samples.size(), i + kPerPut); ++j) {
        Put(samples[j]);
      }
      Run("COMMIT");
    }
  }

  void Gets(const std::vector<Hash128>& ids) {
    for (const Hash128& id : ids) {
      Bind(get_, 1, std::as_bytes(std::span(id.bytes)));
      Check(sqlite3_step(get_) == SQLITE_ROW, "bare get");
      const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(get_, 0));
      const Bytes copy(data, data + sqlite3_column_bytes(get_, 0));
      Check(copy.size() == kBlobBytes, "bare get size");
      sqlite3_reset(get_);
    }
  }

 private:
  void Run(const char* sql) {
    Check(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK, sql);
  }
  sqlite3_stmt* Prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    Check(sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr) == SQLITE_OK, sql);
    return statement;
  }
  static void Bind(sqlite3_stmt* statement, int index, ByteView bytes) {
    sqlite3_bind_blob(statement, index, bytes.data(), static_cast<int>(bytes.size()),
                      SQLITE_STATIC);
  }
  int64_t Step(sqlite3_stmt* statement) {
    Check(sqlite3_step(statement) == SQLITE_DONE, "bare step");
    sqlite3_reset(statement);
    return sqlite3_last_insert_rowid(db_);
  }
  void Put(const Sample& sample) {
    Bind(blob_, 1, std::as_bytes(std::span(sample.content.key.id.bytes)));
    sqlite3_bind_int64(blob_, 2, static_cast<int64_t>(sample.content.value.bytes.size()));
    Bind(blob_, 3, sample.content.value.bytes);
    const int64_t rid = Step(blob_);
    Bind(entry_, 1, std::as_bytes(std::span(sample.record.key.id.bytes)));
    Bind(entry_, 2, sample.record.value.bytes);
    Bind(entry_, 3, std::as_bytes(std::span(sample.record.value.sum.bytes)));
    const int64_t eid = Step(entry_);
    sqlite3_bind_int64(ref_, 1, eid);
    sqlite3_bind_int64(ref_, 2, rid);
    Step(ref_);
    for (const Item* alias : {&sample.variant, &sample.live}) {
      Bind(alias_, 1, std::as_bytes(std::span(alias->key.id.bytes)));
      sqlite3_bind_int64(alias_, 2, eid);
      Step(alias_);
    }
  }

  sqlite3* db_ = nullptr;
  sqlite3* reader_ = nullptr;
  sqlite3_stmt* blob_ = nullptr;
  sqlite3_stmt* entry_ = nullptr;
  sqlite3_stmt* ref_ = nullptr;
  sqlite3_stmt* alias_ = nullptr;
  sqlite3_stmt* get_ = nullptr;
};

class PlainFiles {
 public:
  explicit PlainFiles(std::filesystem::path dir) : dir_(std::move(dir)) {
    for (int i = 0; i < 256; ++i) {
      std::filesystem::create_directories(dir_ / fmt::format("{:02x}", i));
    }
  }
  std::string PathOf(const Hash128& id) const {
    const std::string hex = id.hex();
    return (dir_ / hex.substr(0, 2) / hex).string();
  }
  // Not synced: one fsync a file would be a hundred times slower.
  void Puts(const std::vector<Sample>& samples) {
    for (const Sample& sample : samples) {
      const int fd = ::open(PathOf(sample.content.key.id).c_str(), O_CREAT | O_WRONLY, 0600);
      const ByteView bytes = sample.content.value.bytes;
      Check(::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "file write");
      ::close(fd);
    }
  }
  void Gets(const std::vector<Hash128>& ids) {
    Bytes bytes(kBlobBytes);
    for (const Hash128& id : ids) {
      const int fd = ::open(PathOf(id).c_str(), O_RDONLY);
      Check(::read(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "file read");
      ::close(fd);
    }
  }

 private:
  std::filesystem::path dir_;
};

class FlatFile {
 public:
  explicit FlatFile(const std::filesystem::path& dir)
      : fd_(::open((dir / "flat").c_str(), O_CREAT | O_RDWR, 0600)) {}
  FlatFile(const FlatFile&) = delete;
  FlatFile& operator=(const FlatFile&) = delete;
  ~FlatFile() { ::close(fd_); }
  void Puts(const std::vector<Sample>& samples) {
    size_t since_sync = 0;
    for (const Sample& sample : samples) {
      const ByteView bytes = sample.content.value.bytes;
      Check(::pwrite(fd_, bytes.data(), bytes.size(), end_) == static_cast<ssize_t>(bytes.size()),
            "flat write");
      index_[sample.content.key.id] = end_;
      end_ += static_cast<off_t>(bytes.size());
      if (++since_sync == kPerPut) {
        since_sync = 0;
        Check(::fdatasync(fd_) == 0, "flat sync");
      }
    }
  }
  void Gets(const std::vector<Hash128>& ids) {
    Bytes bytes(kBlobBytes);
    for (const Hash128& id : ids) {
      Check(::pread(fd_, bytes.data(), bytes.size(), index_.at(id)) ==
                static_cast<ssize_t>(bytes.size()),
            "flat read");
    }
  }

 private:
  int fd_;
  off_t end_ = 0;
  std::unordered_map<Hash128, off_t, Hash128Hash> index_;
};

}  // namespace kiln::bench
