// SPDX-License-Identifier: MIT
// The trained dictionaries of one store: which it has in memory, with which it compresses now, and
// how it comes to new ones. Table `dict` has them by zstd's number, which depends on their bytes;
// `meta` says which number is the current one of a kind. See spec/cache 5.3, 6.3
#pragma once

#include <array>
#include <map>
#include <optional>
#include <stop_token>
#include <vector>

#include "cache/dictionary.h"
#include "cache/sqlite/read_statements.h"
#include "compiler/base/mutex.h"

namespace kiln::cache::sqlite {

class SqliteStore;

// Threads: safe from any thread; a look-up of one that is not in memory borrows a reader.
class Dictionaries final : public DictionarySource {
 public:
  // Requires: store outlives this.
  explicit Dictionaries(SqliteStore& store) : store_(store) {}

  Result<DictionaryPtr> Find(uint32_t number) override;
  DictionaryPtr Current(ContentKind kind) override;

  // Takes what the file names as current.
  void Load();
  // None is current until the next Load, nothing is in memory: the file is another one.
  void Forget();
  void SetCurrent(ContentKind kind, DictionaryPtr dictionary);

 private:
  DictionaryPtr Kept(uint32_t number);
  void Keep(const DictionaryPtr& dictionary);

  SqliteStore& store_;
  Mutex mutex_;
  std::array<DictionaryPtr, kContentKindCount> current_ KILN_GUARDED_BY(mutex_);
  std::map<uint32_t, DictionaryPtr> kept_ KILN_GUARDED_BY(mutex_);  // bounded
};

// A dictionary that was made, and what it does to samples that it was not made from.
struct TrainedDictionary {
  ContentKind kind = ContentKind::kCode;
  uint32_t number = 0;
  uint64_t raw_bytes = 0;
  uint64_t before_bytes = 0;  // as compressed until now
  uint64_t after_bytes = 0;
};

// One step of upkeep: looks at the newest content, and where a dictionary for a kind makes it
// smaller by a tenth, puts one into the store and makes it the current one. Bounded in memory
// (some MiB) and in rows; takes seconds at most. Errors: those of the store.
Result<std::vector<TrainedDictionary>> TrainDictionaries(SqliteStore& store,
                                                         Dictionaries& dictionaries,
                                                         const std::stop_token& stop);

// Whether there is so much more content than at the last training that another one is worth it.
Result<bool> TrainingIsDue(Connection& connection);

}  // namespace kiln::cache::sqlite
