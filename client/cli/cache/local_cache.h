// SPDX-License-Identifier: MIT
// The store of this user for the verbs of `kiln cache`: through the daemon that has it, else opened
// here. Looking works beside another process, changing needs the store for itself.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cache/decorators/checked_store.h"
#include "cache/decorators/compressing_store.h"
#include "cache/sqlite/maintenance/maintenance.h"
#include "cache/sqlite/tables/lease_tables.h"
#include "client/cli/failure.h"
#include "client/cli/global.h"
#include "compiler/base/clock.h"

namespace kiln::cli {

// `dir`, which is what --dir says, else KILN_CACHE_DIR, else the user's; empty if the environment
// names no folder of the user.
std::string DirectoryOf(const std::string& dir);

// The daemon of the flags, if it has the store of the directory; one behind https, or one that
// --daemon names where --dir names no folder, has its own. Errors: as OpenDaemon, and why such a
// one does not answer: its store is meant, and not the one that is here.
Result<std::unique_ptr<client::Client>> HolderOf(const Global& global, const std::string& dir);

enum class Use : uint8_t { kLook, kChange };

struct LocalCache {
  SystemClock clock;
  NullLog log;
  std::unique_ptr<cache::sqlite::SqliteStore> sqlite;
  std::optional<cache::CompressingStore> compressing;
  std::optional<cache::CheckedStore> content;
  std::optional<cache::sqlite::StoreMaintenance> maintenance;
};

// Errors: kNotFound, NO_CACHE, to look at what is not there; kUnavailable if another process has it
// or the disk fails.
Result<std::unique_ptr<LocalCache>> OpenCache(const std::string& dir, Use use);

// Notes the result line of --json and gives the exit code.
int Finish(const std::string& verb, int exit, const Counts& counts);

}  // namespace kiln::cli
