// SPDX-License-Identifier: MIT
#include "cache/sqlite/repair/scrubber.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace kiln::cache::sqlite {
namespace {

// A thousandth of all rows each day: in three years every row is read once on average, at a cost
// that nobody notices.
constexpr double kShareOfADay = 0.001;
constexpr std::chrono::hours kDay{24};

// Row numbers are nearly dense, so the last one stands for the number of rows.
int64_t LastOf(Connection& connection, std::string_view sql) {
  const Result<int64_t> last = connection.QueryInt(sql);
  return last.ok() ? *last : 0;
}

}  // namespace

uint64_t Scrubber::Due(double& owed, int64_t rows, Duration passed) const {
  // Fractions add up, so a small store is looked at as well, if seldom.
  owed += static_cast<double>(rows) * kShareOfADay * std::chrono::duration<double>(passed).count() /
          std::chrono::duration<double>(kDay).count();
  // A machine that slept does not make up for it in one go.
  owed = std::min(owed, static_cast<double>(kMost));
  const auto due = static_cast<uint64_t>(owed);
  owed -= static_cast<double>(due);
  return due;
}

std::optional<Key> Scrubber::Pick(Connection& connection, std::string_view sql, int64_t last) {
  Result<Statement> statement = connection.Prepare(sql);
  if (!statement.ok()) {
    return std::nullopt;
  }
  Query query(*statement);
  // The first row behind a random number: rows behind gaps are met a little more often, which does
  // no harm.
  query.Bind(1 + static_cast<int64_t>(random_() % static_cast<uint64_t>(last)));
  const Result<bool> found = query.Next();
  const std::optional<Hash128> id = found.ok() && *found ? query.Id(0) : std::nullopt;
  if (!id.has_value()) {
    return std::nullopt;
  }
  return Key{.level = static_cast<Level>(query.Int(2)),
             .space = static_cast<uint32_t>(query.Int(1)),
             .id = *id};
}

std::vector<Damage> Scrubber::Run(Connection& connection, ReadStatements& reads, Duration passed) {
  // Caches would answer for the file.
  const ReadStatements::FromFile from_file(reads);
  std::vector<Damage> damaged;
  const int64_t blobs = LastOf(connection, "SELECT max(rid) FROM blob");
  for (uint64_t left = Due(owed_blobs_, blobs, passed); left > 0; --left) {
    const std::optional<Key> key =
        Pick(connection, "SELECT id, 0, 0 FROM blob WHERE rid>=?1 ORDER BY rid LIMIT 1", blobs);
    const Result<std::optional<Blob>> blob =
        key.has_value() ? reads.FindBlob(key->id) : Result<std::optional<Blob>>(std::nullopt);
    if (!blob.ok() || !blob->has_value()) {
      continue;  // gone since then; a file that cannot be read shows elsewhere
    }
    const Result<std::optional<Finding>> finding = reads.CheckContent(key->id, **blob);
    if (finding.ok() && finding->has_value()) {
      damaged.push_back(
          {.kind = (*finding)->kind, .key = *key, .reason = (*finding)->reason, .found = {}});
    }
  }
  const int64_t records = LastOf(connection, "SELECT max(eid) FROM entry");
  for (uint64_t left = Due(owed_records_, records, passed); left > 0; --left) {
    const std::optional<Key> key =
        Pick(connection, "SELECT key, space, level FROM entry WHERE eid>=?1 ORDER BY eid LIMIT 1",
             records);
    const Result<std::optional<StoredRow>> row =
        key.has_value() ? reads.FindRow(*key) : Result<std::optional<StoredRow>>(std::nullopt);
    if (!row.ok() || !row->has_value()) {
      continue;
    }
    const Result<std::optional<Finding>> finding = reads.CheckRow(*key, **row);
    if (finding.ok() && finding->has_value()) {
      damaged.push_back(
          {.kind = (*finding)->kind, .key = *key, .reason = (*finding)->reason, .found = {}});
    }
  }
  return damaged;
}

}  // namespace kiln::cache::sqlite
