// SPDX-License-Identifier: MIT
// `kiln cache why KEY` (spec/cli 6.11): explains one remembered request by the key of its result.
// The explanation compares inputs only. It never compiles and never reads content, so it costs a
// few look-ups (spec/cache 11).
#include "client/cli/cache/why.h"

#include <optional>
#include <vector>

#include "cache/record.h"
#include "cache/sqlite/tables/explain_table.h"
#include "client/cli/add_verb.h"
#include "client/cli/cache/local_cache.h"
#include "client/cli/failure.h"
#include "client/cli/variant/explanation.h"

namespace kiln::cli {
namespace {

// What the store of the directory remembers of a key, without a daemon.
Result<client::Explanation> Remembered(const std::string& dir, Hash128 key) {
  KILN_TRY(const std::unique_ptr<LocalCache> opened, OpenCache(dir, Use::kLook));
  // A variant or live key leads to a signature, under which requests are remembered.
  const Result<cache::Blob> alias =
      opened->content->Get({.level = cache::Level::kAlias, .space = 0, .id = key}, {});
  if (alias.ok()) {
    const Result<Hash128> signature = cache::DecodeAlias(alias->bytes);
    key = signature.ok() ? *signature : key;
  }
  cache::sqlite::ExplainTable table(*opened->sqlite);
  KILN_TRY(const std::optional<cache::ExplainRecord> record, table.Find(key, {}));
  if (!record.has_value()) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "no request for " + key.hex() + " is remembered",
                 .reason = "UNKNOWN_RESULT"};
  }
  // A slot is the requests of one program, target and project. The store keeps a bounded number for
  // each, so the vector stays small.
  KILN_TRY(const std::vector<cache::ExplainRecord> slot, table.Records(record->slot));
  // The cause of a miss is the difference to what was asked before it, so later requests of the
  // slot must not take part.
  std::vector<const cache::ExplainRecord*> earlier;
  for (const cache::ExplainRecord& row : slot) {
    if (row.seq < record->seq) {
      earlier.push_back(&row);
    }
  }
  return ExplanationOf(cache::Explain(*record, earlier));
}

// A key is parsed before anything is opened: a word that is no key must not start a search. A
// daemon may know several requests of one key and sends all; a folder yields the newest one.
int RunCacheWhy(const Global& global, const std::string& dir, const std::string& name) {
  const std::optional<Hash128> key = ParseHash128(name);
  if (!key.has_value()) {
    return Fail(global, {.code = ErrorCode::kInvalidArgument,
                         .context = "'" + name + "' is no key (32 hex digits)",
                         .reason = "USAGE"});
  }
  const auto daemon = HolderOf(global, dir);
  if (!daemon.ok()) {
    return Fail(global, daemon.error());
  }
  if (*daemon != nullptr) {
    const Result<client::ExplainReply> explained =
        (*daemon)->Explain(client::Client::ExplainKey{name});
    if (!explained.ok()) {
      return Fail(global, explained.error());
    }
    for (const client::Explanation& record : explained->records) {
      PrintExplanation(global, record, record.program + " " + record.target);
    }
    return Finish("cache why", kSuccess, {});
  }
  const Result<client::Explanation> record = Remembered(dir, *key);
  if (!record.ok()) {
    return Fail(global, record.error());
  }
  PrintExplanation(global, *record, record->program + " " + record->target);
  return Finish("cache why", kSuccess, {});
}

}  // namespace

void AddCacheWhy(CLI::App& cache, CommandLine& line,
                 const std::shared_ptr<const std::string>& dir) {
  const auto key = std::make_shared<std::string>();
  CLI::App* why = AddVerb(cache, line,
                          {"why", "Why the result of a key was made or found",
                           "  kiln cache why 0aef25953033d800bca6c36a9de0ca3d\n  kiln cache why "
                           "0aef25953033d800bca6c36a9de0ca3d --json"},
                          [&line, dir, key] { return RunCacheWhy(line.global, *dir, *key); });
  why->add_option("key", *key, "Signature, variant or live key")->required();
}

}  // namespace kiln::cli
