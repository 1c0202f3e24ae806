// SPDX-License-Identifier: MIT
#include "cache/sqlite/schema_check.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "cache/sqlite/schema_sql.h"

namespace kiln::cache::sqlite {
namespace {

// Type, name, table, and what made it. Indexes that SQLite made by itself have no text.
using Object = std::tuple<std::string, std::string, std::string, std::string>;
using Schema = std::set<Object>;

std::string OneBlank(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank || (!out.empty() && out.back() != ' ')) {
      out += blank ? ' ' : c;
    }
  }
  return out;
}

Result<Schema> SchemaOf(Connection& connection) {
  KILN_TRY(Statement statement,
           connection.Prepare("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema"));
  Query query(statement);
  Schema schema;
  KILN_TRY([[maybe_unused]] const int64_t rows, query.EachRow([&](const Query& row) {
    schema.emplace(std::string(row.Text(0)), std::string(row.Text(1)), std::string(row.Text(2)),
                   OneBlank(row.Text(3)));
  }));
  return schema;
}

// What this version would make is the list to compare with: there is no second one.
Result<Schema> OwnSchema() {
  KILN_TRY(Connection fresh, Connection::Open(":memory:", OpenMode::kReadWrite));
  KILN_TRY_VOID(fresh.Execute(kSchemaSql));
  return SchemaOf(fresh);
}

std::vector<std::string> NamesOnlyIn(const Schema& one, const Schema& other) {
  std::vector<std::string> names;
  for (const Object& object : one) {
    if (!other.contains(object)) {
      names.push_back(std::get<1>(object));
    }
  }
  return names;
}

}  // namespace

Result<SchemaFaults> CheckSchema(Connection& connection) {
  // Made once, as every reader of a pool asks for it.
  static const Result<Schema> kOwn = OwnSchema();
  if (!kOwn.ok()) {
    return kOwn.error();
  }
  KILN_TRY(const Schema found, SchemaOf(connection));
  return SchemaFaults{.foreign = NamesOnlyIn(found, *kOwn), .missing = NamesOnlyIn(*kOwn, found)};
}

}  // namespace kiln::cache::sqlite
