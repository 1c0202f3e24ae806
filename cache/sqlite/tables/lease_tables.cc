// SPDX-License-Identifier: MIT
// SQL over `lease`, `pin` and `pin_entry`. Each function is one change of the writer thread
// (store_.Write), awaited: it is on disk when it returns. A change may run twice, so what it tells
// is set anew at its beginning.
#include "cache/sqlite/tables/lease_tables.h"

#include <memory>
#include <optional>
#include <utility>

#include "cache/leases/actor.h"

namespace kiln::cache::sqlite {
namespace {

// A lease is renewed each minute (spec/cache 8.4), so one that is not is of a process that died.
constexpr int64_t kLeaseSeconds = int64_t{15} * 60;
constexpr int64_t kReleaseSeconds = int64_t{10} * 60;
constexpr auto kAliasLevel = static_cast<int64_t>(Level::kAlias);

// A pin of the same name keeps its number and owner; PinOwnerFor has said that the caller may
// change it.
Result<int64_t> PutPin(TableWrites& writes, const Pin& pin) {
  KILN_TRY(Statement statement,
           writes.connection().Prepare(
               "INSERT INTO pin (name, made_s, until_s, note, owner)"
               " VALUES (?1, ?2, ?3, ?4, ?5)"
               " ON CONFLICT (name) DO UPDATE SET until_s=?3, note=?4 RETURNING pin"));
  Query query(statement);
  query.Bind(std::string_view(pin.name)).Bind(writes.NowSeconds()).Bind(pin.until_s);
  query.Bind(std::string_view(pin.note)).Bind(OwnerName(pin.owner));
  KILN_TRY(const bool found, query.Next());
  KILN_CHECK(found);
  const int64_t number = query.Int(0);
  KILN_TRY(const bool more, query.Next());
  KILN_CHECK(!more);
  return number;
}

// Whether the key led to a record. Zero writes: no row has the key.
Result<bool> PinKey(TableWrites& writes, Statement& insert, int64_t pin, const Key& key) {
  // A key of the alias level is also looked for among aliases, which share the number of the record
  // that they lead to; so pinning an alias pins its record.
  Query query(insert);
  query.Bind(pin).Bind(int64_t{key.space}).Bind(static_cast<int64_t>(key.level)).Bind(key.id);
  query.Bind(kAliasLevel);
  KILN_TRY_VOID(query.Run());
  return writes.connection().writes() > 0;
}

}  // namespace

// The floor stays while the lease lives, so that everything its owner touched since the beginning
// is protected. One that had ended begins anew.
Result<void> LeaseTable::Hold(std::string_view owner) {
  return store_.Write(
      [owner = std::string(owner)](TableWrites& writes) -> Result<void> {
        KILN_TRY(Statement statement,
                 writes.connection().Prepare("INSERT INTO lease VALUES (?1, ?2, ?3)"
                                             " ON CONFLICT (owner) DO UPDATE SET until_s=?3,"
                                             " floor_q=iif(until_s<?4, ?2, floor_q)"));
        Query query(statement);
        const int64_t now_s = writes.NowSeconds();
        query.Bind(std::string_view(owner)).Bind(writes.NowQuantum());
        return query.Bind(now_s + kLeaseSeconds).Bind(now_s).Run();
      },
      {});
}

// Not removed: what the session has seen stays for 10 minutes more (spec/cache 8.4).
Result<void> LeaseTable::Release(std::string_view owner) {
  return store_.Write(
      [owner = std::string(owner)](TableWrites& writes) -> Result<void> {
        KILN_TRY(Statement statement,
                 writes.connection().Prepare("UPDATE lease SET until_s=?2 WHERE owner=?1"));
        Query query(statement);
        query.Bind(std::string_view(owner));
        return query.Bind(writes.NowSeconds() + kReleaseSeconds).Run();
      },
      {});
}

Result<uint64_t> PinTable::Add(const Pin& pin, std::span<const Key> keys) {
  auto records = std::make_shared<uint64_t>(0);
  const std::vector<Key> copied(keys.begin(), keys.end());
  KILN_TRY_VOID(store_.Write(
      [pin, copied, records](TableWrites& writes) -> Result<void> {
        *records = 0;
        KILN_TRY(const int64_t number, PutPin(writes, pin));
        KILN_TRY(Statement insert,
                 writes.connection().Prepare(
                     "INSERT INTO pin_entry (eid, pin)"
                     " SELECT eid, ?1 FROM entry WHERE space=?2 AND level=?3 AND key=?4"
                     " UNION ALL SELECT eid, ?1 FROM alias WHERE space=?2 AND key=?4 AND ?3=?5"
                     " ON CONFLICT DO UPDATE SET pin=pin"));
        for (const Key& key : copied) {
          KILN_TRY(const bool found, PinKey(writes, insert, number, key));
          *records += found ? 1 : 0;
        }
        return {};
      },
      {}));
  return *records;
}

Result<void> PinTable::Remove(std::string_view name) { return Delete(name, {}); }

Result<void> PinTable::RemoveOf(std::string_view name, std::string_view owner) {
  return Delete(name, std::string(OwnerName(owner)));
}

// Entries go before the pin that they are found by. Of another owner: as if it were not there.
Result<void> PinTable::Delete(std::string_view name, const std::string& owner) {
  return store_.Write(
      [name = std::string(name), owner](TableWrites& writes) -> Result<void> {
        for (const std::string_view sql :
             {"DELETE FROM pin_entry WHERE pin="
              "(SELECT pin FROM pin WHERE name=?1 AND (?2='' OR owner=?2))",
              "DELETE FROM pin WHERE name=?1 AND (?2='' OR owner=?2)"}) {
          KILN_TRY(Statement statement, writes.connection().Prepare(sql));
          Query query(statement);
          KILN_TRY_VOID(query.Bind(std::string_view(name)).Bind(std::string_view(owner)).Run());
        }
        if (writes.connection().writes() == 0) {
          return Error{.code = ErrorCode::kNotFound, .context = "pin " + name};
        }
        return {};
      },
      {});
}

Result<std::vector<Pin>> PinTable::List() {
  KILN_TRY(ReaderPool::Loan reader, store_.Read({}));
  return ReadPins(reader.connection());
}

// For a connection that the caller has, since salvage reads pins out of a damaged file as well.
Result<std::vector<Pin>> ReadPins(Connection& connection) {
  KILN_TRY(
      Statement statement,
      connection.Prepare("SELECT name, made_s, until_s, note, (SELECT count(*) FROM pin_entry AS e"
                         " WHERE e.pin=pin.pin), owner FROM pin ORDER BY name"));
  Query query(statement);
  std::vector<Pin> pins;
  KILN_TRY([[maybe_unused]] const int64_t rows, query.EachRow([&](const Query& row) {
    pins.push_back({.name = std::string(row.Text(0)),
                    .made_s = row.Int(1),
                    .until_s = row.IsNull(2) ? std::nullopt : std::optional(row.Int(2)),
                    .note = std::string(row.Text(3)),
                    .records = static_cast<uint64_t>(row.Int(4)),
                    .owner = std::string(row.Text(5))});
  }));
  return pins;
}

}  // namespace kiln::cache::sqlite
