// SPDX-License-Identifier: MIT
// Remembers why an upstream gave no answer, for status, log and explanations (spec/cache 7.4).
// Reads and writes are kept apart, since an upstream may take one and refuse the other. It changes
// no answer.
#include "cache/decorators/last_error_store.h"

#include <chrono>

namespace kiln::cache {
namespace {

// Which errors say that the other daemon cannot be used. A miss, a full store or a wrong request is
// an answer: whoever gives it is there.
bool IsNoAnswer(const Error& error) {
  switch (error.code) {
    case ErrorCode::kUnavailable:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kUnauthenticated:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kUnimplemented:
    case ErrorCode::kInternal:
      return true;
    default:  // about what was asked
      return false;
  }
}

template <class T>
const Error* ErrorOf(const Result<T>& result) {
  return result.ok() ? nullptr : &result.error();
}

}  // namespace

// In the thread of whoever called; a call that was cancelled neither proves nor disproves the
// upstream.
void LastErrorStore::Note(Kind kind, const Error* error) {
  if (error != nullptr && error->code == ErrorCode::kCancelled) {
    return;  // by the caller: it tells nothing
  }
  const MutexLock lock(mutex_);
  asked_ = true;
  std::optional<Failure>& failure = failures_[kind];
  if (error == nullptr || !IsNoAnswer(*error)) {
    // One answer ends the run of failures, as the next failure is another trouble.
    failure.reset();
    return;
  }
  // The time is that of the first failure of the run, the text that of the last one.
  if (!failure.has_value()) {
    failure.emplace().since_s =
        std::chrono::duration_cast<std::chrono::seconds>(clock_.UnixTime()).count();
  }
  failure->error = *error;
}

// For looks at the status, which are reads.
void LastErrorStore::Note(const Result<void>& answer) { Note(kReads, ErrorOf(answer)); }

Result<Blob> LastErrorStore::Get(const Key& key, const Call& call) {
  Result<Blob> blob = below_.Get(key, call);
  Note(kReads, ErrorOf(blob));
  return blob;
}

Result<PutResult> LastErrorStore::Put(std::span<const Item> items, Durability durability,
                                      const Call& call) {
  Result<PutResult> stored = below_.Put(items, durability, call);
  Note(kWrites, ErrorOf(stored));
  return stored;
}

Result<std::vector<Key>> LastErrorStore::FindMissing(std::span<const Key> keys, const Call& call) {
  Result<std::vector<Key>> missing = below_.FindMissing(keys, call);
  Note(kReads, ErrorOf(missing));
  return missing;
}

bool LastErrorStore::asked() {
  const MutexLock lock(mutex_);
  return asked_;
}

std::optional<LastErrorStore::Failure> LastErrorStore::failure(Kind kind) {
  const MutexLock lock(mutex_);
  return failures_[kind];
}

}  // namespace kiln::cache
