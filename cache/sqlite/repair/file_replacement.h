// SPDX-License-Identifier: MIT
// Gives a file up: checks it, sets it aside, opens an empty one, and copies back what verifies. See
// spec/cache 6.7
//
// Threads: the maintenance thread's.
#pragma once

#include <string>

#include "cache/sqlite/maintenance/maintenance_orders.h"
#include "cache/sqlite/store_file.h"
#include "cache/sqlite/store_parts.h"

namespace kiln::cache::sqlite {

class SqliteStore;

class FileReplacement {
 public:
  // `store`: what is salvaged is put there. Requires: all outlive this.
  FileReplacement(SqliteStore& store, StoreParts& parts, StoreFile& file)
      : store_(store), parts_(parts), file_(file) {}

  // Requires: this process owns the file.
  void Execute(Order order);
  // Copies what verifies of a file that could not be opened, if there is one.
  void SalvageUnopened();

 private:
  void Check();
  void Replace(Order order);
  void Salvage(const std::string& name);
  std::string ReadApart(const std::string& from, const std::filesystem::path& apart);
  std::string ReadHere(const std::string& from, const std::filesystem::path& apart);

  SqliteStore& store_;
  StoreParts& parts_;
  StoreFile& file_;
};

}  // namespace kiln::cache::sqlite
