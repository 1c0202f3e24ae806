// SPDX-License-Identifier: MIT
// Dictionaries by number, for reading, and the current one of each kind of content, for writing
// (spec/cache 6.3). Any thread asks; the mutex guards the maps, gatherer_mutex_ the pointer to the
// gatherer.
#include "cache/sqlite/tables/dictionaries.h"

#include <optional>
#include <string>
#include <utility>

namespace kiln::cache::sqlite {
namespace {

constexpr size_t kMostKept = 16;  // of about 140 KiB each
// A value of another type is damage, and counts as no current dictionary.
constexpr std::string_view kCurrentSql =
    "SELECT v FROM meta WHERE k='dict.'||?1 AND typeof(v)='integer'";

Result<std::optional<uint32_t>> CurrentNumber(Connection& connection, ContentKind kind) {
  KILN_TRY(Statement statement, connection.Prepare(kCurrentSql));
  Query query(statement);
  KILN_TRY(const bool found, query.Bind(ContentKindName(kind)).Next());
  return found ? std::optional(static_cast<uint32_t>(query.Int(0))) : std::nullopt;
}

}  // namespace

DictionaryPtr Dictionaries::Kept(uint32_t number) {
  const MutexLock lock(mutex_);
  const auto kept = kept_.find(number);
  return kept == kept_.end() ? nullptr : kept->second;
}

// Emptied as a whole when it is full: more dictionaries than this are in use only after many
// trainings, and a miss costs one read.
void Dictionaries::Keep(const DictionaryPtr& dictionary) {
  const MutexLock lock(mutex_);
  if (kept_.size() >= kMostKept) {
    kept_.clear();  // those in use stay alive and come back
  }
  kept_.emplace(dictionary->number(), dictionary);
}

Result<DictionaryPtr> Dictionaries::Find(uint32_t number) {
  // The mutex is not held while the store is read: two threads may read one dictionary twice, which
  // is cheaper than making all of them wait.
  if (DictionaryPtr kept = Kept(number)) {
    return kept;
  }
  KILN_TRY(ReaderPool::Loan reader, session_.Read({}));
  KILN_TRY(DictionaryPtr found, reader->FindDictionary(number));
  if (found == nullptr) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "dictionary " + std::to_string(number) + " is lost"};
  }
  Keep(found);
  return found;
}

DictionaryPtr Dictionaries::Current(ContentKind kind) {
  const MutexLock lock(mutex_);
  return current_[static_cast<size_t>(kind)];
}

void Dictionaries::SetGatherer(ContentGatherer* gatherer) {
  const MutexLock lock(gatherer_mutex_);
  gatherer_ = gatherer;
}

// A mutex of its own: the gatherer puts, which takes time, and must not hold up those who look for
// a dictionary.
void Dictionaries::PutGathered() {
  const MutexLock lock(gatherer_mutex_);
  if (gatherer_ != nullptr) {
    gatherer_->PutGathered();
  }
}

void Dictionaries::SetCurrent(ContentKind kind, DictionaryPtr dictionary) {
  const MutexLock lock(mutex_);
  current_[static_cast<size_t>(kind)] = std::move(dictionary);
}

// After the file was opened or replaced. A dictionary that cannot be read is no current one, and
// content is compressed without it.
void Dictionaries::Load() {
  Result<ReaderPool::Loan> reader = session_.Read({});
  if (!reader.ok()) {
    return;
  }
  // Read from the file: one that was damaged meanwhile is not offered any more.
  (*reader)->ForgetDictionaries();
  for (uint32_t i = 0; i < kContentKindCount; ++i) {
    const auto kind = static_cast<ContentKind>(i);
    const Result<std::optional<uint32_t>> number = CurrentNumber(reader->connection(), kind);
    if (number.ok() && number->has_value()) {
      Result<DictionaryPtr> dictionary = (*reader)->FindDictionary(**number);
      SetCurrent(kind, dictionary.ok() ? std::move(dictionary).value() : nullptr);
    }
  }
}

void Dictionaries::Forget() {
  const MutexLock lock(mutex_);
  current_ = {};
  kept_.clear();
}

}  // namespace kiln::cache::sqlite
