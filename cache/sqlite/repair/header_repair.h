// SPDX-License-Identifier: MIT
// Makes a database that SQLite does not take readable again, in a copy: what tells SQLite where the
// tables are is the same in every file of this version, so the first page of an empty one stands in
// for a damaged one. Rows are believed only as far as they verify. See spec/cache 6.7
#pragma once

#include <filesystem>
#include <string>

#include "cache/sqlite/connection.h"
#include "compiler/base/clock.h"
#include "compiler/base/result.h"

namespace kiln::cache::sqlite {

// The file itself if its rows can be asked for, else the path of a mended copy in the folder
// `scratch`, which is made if need be. Requires: nobody writes the file. Errors: kFull if the disk
// has no room for a copy; kCorrupt, with what SQLite says of the copy; those of files.
Result<std::string> MakeReadable(const std::string& file, const std::string& vfs,
                                 const std::filesystem::path& scratch, Clock& clock);

}  // namespace kiln::cache::sqlite
