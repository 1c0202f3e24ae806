// SPDX-License-Identifier: MIT
#include "client/cli/cache/local_cache.h"

#include <filesystem>

#include "client/cli/failure.h"
#include "compiler/base/files/user_folders.h"

namespace kiln::cli {

std::string DirectoryOf(const std::string& dir) {
  if (!dir.empty()) {
    return dir;
  }
  const std::string named = ProcessVariable("KILN_CACHE_DIR").value_or("");
  return named.empty() ? UserCacheFolder(ProcessVariable) : named;
}

Result<std::unique_ptr<client::Client>> HolderOf(const Global& global, const std::string& dir) {
  // A cache behind TCP can only be asked for. A daemon that was named is meant even if it has no
  // cache here; a folder that was named beside it wins.
  const bool remote = !DaemonAddress(global).starts_with("unix:");
  const bool asked = remote || (!global.daemon.empty() && dir.empty());
  const std::string folder = DirectoryOf(dir);
  // The owner is read from the lock of the folder, so this costs no connection when no daemon is
  // about.
  const std::optional<pid_t> owner =
      folder.empty() ? std::nullopt : cache::sqlite::FindOwner(folder);
  if (!owner.has_value() && !asked) {
    return std::unique_ptr<client::Client>();
  }
  KILN_TRY(std::unique_ptr<client::Client> client, OpenDaemon(global));
  const Result<client::ServerInfo> info = client->Ping(client::kPing);
  if (asked && !info.ok()) {
    return info.error();
  }
  // A daemon that answers but does not hold this folder has another cache. Then nobody holds it, or
  // a process that does not answer here, which opening the store will tell.
  const bool holds = info.ok() && (asked || info->pid == static_cast<uint64_t>(*owner));
  return holds ? std::move(client) : nullptr;
}

Result<std::unique_ptr<LocalCache>> OpenCache(const std::string& dir, Use use) {
  const std::filesystem::path folder = DirectoryOf(dir);
  if (folder.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context =
                     "there is no folder of this user for a cache: set KILN_CACHE_DIR or "
                     "HOME, or name one with --dir",
                 .reason = "USAGE"};
  }
  std::error_code error;
  // Opening would make an empty cache, and looking must change nothing.
  if (use == Use::kLook && !std::filesystem::exists(folder / "cache.db", error)) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "there is no cache in " + folder.string(),
                 .reason = "NO_CACHE"};
  }
  auto opened = std::make_unique<LocalCache>();
  // To change the store this process must own it: opening fails while a daemon has the lock.
  Result<std::unique_ptr<cache::sqlite::SqliteStore>> store = cache::sqlite::SqliteStore::Open(
      {.dir = folder, .must_own = use == Use::kChange, .read_only = use == Use::kLook},
      opened->clock, opened->log);
  if (!store.ok()) {
    Error failed = store.error();
    if (failed.reason == cache::sqlite::kLocked) {
      failed.code = ErrorCode::kUnavailable;
      failed.context += "; stop it with 'kiln stop'";
    }
    return failed;
  }
  opened->sqlite = std::move(store).value();
  if (!opened->sqlite->Status().open) {
    return Error{.code = ErrorCode::kUnavailable,
                 .context = "the cache in " + folder.string() +
                            " cannot be opened: the disk is full "
                            "or fails",
                 .reason = "CACHE_CLOSED"};
  }
  // The same layers as in a daemon: content is compressed with the dictionaries of the store, and
  // maintenance goes to the table itself.
  opened->compressing.emplace(*opened->sqlite, *opened->sqlite, &opened->sqlite->dictionaries());
  opened->content.emplace(*opened->compressing, *opened->sqlite);
  opened->maintenance.emplace(*opened->sqlite, opened->clock);
  return opened;
}

int Finish(const std::string& verb, int exit, const Counts& counts) {
  NoteResult(verb, 0, counts);
  return exit;
}

}  // namespace kiln::cli
