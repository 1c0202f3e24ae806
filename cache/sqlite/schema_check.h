// SPDX-License-Identifier: MIT
// What of a file's schema is not as this version makes it. A view, a trigger or an index of an
// expression is a program that whoever made the file wrote: it would run inside statements of ours,
// without an end if he likes.
#pragma once

#include <string>
#include <vector>

#include "cache/sqlite/connection.h"
#include "compiler/base/result.h"

namespace kiln::cache::sqlite {

struct SchemaFaults {
  std::vector<std::string> foreign;  // names of what this version does not make, or makes otherwise
  std::vector<std::string> missing;  // names of what it makes and the file has not as it should be
};

// Compares type, name, table and text, blanks made equal. Reads sqlite_schema only, so nothing of
// the file runs. Errors: of SQLite.
Result<SchemaFaults> CheckSchema(Connection& connection);

}  // namespace kiln::cache::sqlite
