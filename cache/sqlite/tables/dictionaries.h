// SPDX-License-Identifier: MIT
// The trained dictionaries of one store: which it has in memory and with which it compresses now;
// dictionary_training.h makes new ones. Table `dict` has them by zstd's number, which depends on
// their bytes; `meta` says which number is the current one of a kind. See spec/cache 5.3, 6.3
#pragma once

#include <array>
#include <cstdint>

#include "cache/compression/dictionary.h"
#include "cache/sqlite/session/current_session.h"
#include "compiler/base/lru_map.h"
#include "compiler/base/mutex.h"

namespace kiln::cache::sqlite {

// Threads: safe from any thread; a look-up of one that is not in memory borrows a reader.
class Dictionaries final : public DictionarySource {
 public:
  // Requires: session outlives this.
  explicit Dictionaries(CurrentSession& session) : session_(session) {}

  Result<DictionaryPtr> Find(uint32_t number) override;
  DictionaryPtr Current(ContentKind kind) override;
  void SetGatherer(ContentGatherer* gatherer) override;
  // What waits above the store is queued.
  void PutGathered();

  // Takes what the file names as current.
  void Load();
  // None is current until the next Load, nothing is in memory: the file is another one.
  void Forget();
  void SetCurrent(ContentKind kind, DictionaryPtr dictionary);

 private:
  DictionaryPtr Kept(uint32_t number);
  void Keep(const DictionaryPtr& dictionary);

  CurrentSession& session_;
  Mutex gatherer_mutex_;  // held while it is called, which takes mutex_
  ContentGatherer* gatherer_ KILN_GUARDED_BY(gatherer_mutex_) = nullptr;
  Mutex mutex_;
  std::array<DictionaryPtr, kContentKindCount> current_ KILN_GUARDED_BY(mutex_);
  LruMap<uint32_t, DictionaryPtr> kept_ KILN_GUARDED_BY(mutex_);  // bounded
};

}  // namespace kiln::cache::sqlite
