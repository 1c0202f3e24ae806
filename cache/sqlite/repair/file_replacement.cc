// SPDX-License-Identifier: MIT
// The order is what makes this safe to be killed at any point: first all connections are closed,
// then the file is renamed, then an empty one is opened, and only into that one rows are copied, as
// puts like any other. Whoever asks in between finds misses. What was set aside stays until room is
// needed (aside_files.h), so a salvage that was cut short costs rows but no file.
#include "cache/sqlite/repair/file_replacement.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "cache/sqlite/repair/header_repair.h"
#include "cache/sqlite/repair/salvage.h"
#include "cache/sqlite/sqlite_store.h"

namespace kiln::cache::sqlite {

void FileReplacement::Execute(Order order) {
  switch (order) {
    case Order::kNone:
      return;
    case Order::kCheck:
      Check();
      return;
    case Order::kReplace:
    case Order::kReplaceUnsalvaged:
      Replace(order);
      return;
  }
}

// Reads the whole file; the answer decides whether it stays.
void FileReplacement::Check() {
  Result<Connection> connection = OpenReader(file_.database());
  const Result<std::string> verdict = connection.ok()
                                          ? connection->QueryText("PRAGMA quick_check(1)")
                                          : Result<std::string>(connection.error());
  if (verdict.ok() && *verdict == "ok") {
    return;
  }
  parts_.log.Write(LogLevel::kError, "cache", "the database does not pass quick_check",
                   {{"finding", verdict.ok() ? *verdict : ErrorText(verdict.error())}});
  Replace(Order::kReplace);
}

void FileReplacement::Replace(Order order) {
  // From here on requests find no session and are misses. Close() waits for the readers that are
  // out.
  if (const std::shared_ptr<Session> old = parts_.session.Exchange(nullptr)) {
    old->Close();
  }
  const std::filesystem::path& dir = file_.database().dir;
  const std::string name = FreeCorruptName(dir);
  const Result<void> aside = SetAside(dir, name);
  const Result<void> opened = aside.ok() ? file_.OpenSession() : aside;
  // The strikes were against the old file; the new one begins without any.
  parts_.health.Reset();
  parts_.orders.Forget();  // what was reported since then was about the old file
  parts_.log.Write(
      LogLevel::kError, "cache",
      opened.ok() ? "the database was replaced by an empty one" : "the cache has no database",
      {{"set_aside", name + ".db"},
       {"error", opened.ok() ? std::string() : ErrorText(opened.error())}});
  if (opened.ok() && order == Order::kReplace) {
    Salvage(name);
  }
  parts_.orders.Done(name + ".db");
}

// A child process reads the damaged file into a store of its own: what crashes it does not crash
// this one. Gives the file of that store, which is sound, as far as the child came.
std::string FileReplacement::ReadApart(const std::string& from,
                                       const std::filesystem::path& apart) {
  if (!StartSalvage(parts_.options.salvage_program, from, apart.string(),
                    parts_.orders.stop_token())) {
    parts_.log.Write(LogLevel::kWarning, "cache", "reading the damaged file ended early",
                     {{"from", from}, {"why", WhyNotSalvaged(apart)}});
  }
  return (apart / "cache.db").string();
}

// Gives the file itself, or a copy with a mended header where SQLite does not open it.
std::string FileReplacement::ReadHere(const std::string& from, const std::filesystem::path& apart) {
  Result<std::string> readable = MakeReadable(from, file_.database().vfs, apart, parts_.clock);
  if (!readable.ok()) {
    parts_.log.Write(LogLevel::kWarning, "cache", "the damaged file cannot be salvaged",
                     {{"from", from}, {"why", readable.error().context}});
    return from;
  }
  return *std::move(readable);
}

void FileReplacement::Salvage(const std::string& name) {
  const std::filesystem::path& dir = file_.database().dir;
  const std::string& vfs = file_.database().vfs;
  const std::string damaged = (dir / (name + ".db")).string();
  const std::filesystem::path apart = dir / (name + ".salvage");
  const std::string file =
      parts_.options.salvage_program.empty() ? ReadHere(damaged, apart) : ReadApart(damaged, apart);
  // What the child found is copied as puts like any other, so each row is verified by the new store
  // as well.
  const SalvageReport salvaged = SalvageInto(file, vfs, store_, parts_.orders.stop_token());
  parts_.log.Write(LogLevel::kWarning, "cache", "salvaged what verifies",
                   {{"from", file},
                    {"blobs", salvaged.blobs},
                    {"records", salvaged.records},
                    {"aliases", salvaged.aliases},
                    {"pins", SalvagePins(file, vfs, store_)}});
  std::error_code error;
  // The damaged file itself stays, for people and for another try by a later version.
  std::filesystem::remove_all(apart, error);
  parts_.aside.Measure(dir);
}

void FileReplacement::SalvageUnopened() {
  if (const std::string name = parts_.orders.Unsalvaged(); !name.empty()) {
    Salvage(name);
    parts_.orders.Salvaged();
  }
}

}  // namespace kiln::cache::sqlite
