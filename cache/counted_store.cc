// SPDX-License-Identifier: MIT
#include "cache/counted_store.h"

#include "compiler/base/check.h"

namespace kiln::cache {
namespace {

CallResult ResultOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kNotFound:
      return CallResult::kMiss;
    case ErrorCode::kUnavailable:
      return CallResult::kUnavailable;
    case ErrorCode::kDeadlineExceeded:
      return CallResult::kDeadline;
    case ErrorCode::kCancelled:
      return CallResult::kCancelled;
    case ErrorCode::kCorrupt:
      return CallResult::kCorrupt;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kAborted:
    case ErrorCode::kOutOfRange:
    case ErrorCode::kUnimplemented:
    case ErrorCode::kInternal:
    case ErrorCode::kUnauthenticated:
      return CallResult::kRefused;
  }
  KILN_UNREACHABLE();
}

template <class T>
const Error* ErrorOf(const Result<T>& result) {
  return result.ok() ? nullptr : &result.error();
}

}  // namespace

std::string_view StoreOpName(StoreOp op) {
  switch (op) {
    case StoreOp::kGet:
      return "get";
    case StoreOp::kPut:
      return "put";
    case StoreOp::kFindMissing:
      return "find_missing";
  }
  KILN_UNREACHABLE();
}

std::string_view CallResultName(CallResult result) {
  switch (result) {
    case CallResult::kOk:
      return "ok";
    case CallResult::kMiss:
      return "miss";
    case CallResult::kUnavailable:
      return "unavailable";
    case CallResult::kDeadline:
      return "deadline";
    case CallResult::kCancelled:
      return "cancelled";
    case CallResult::kCorrupt:
      return "corrupt";
    case CallResult::kRefused:
      return "refused";
  }
  KILN_UNREACHABLE();
}

void CountedStore::Count(StoreOp op, const Error* error) {
  const CallResult result = error == nullptr ? CallResult::kOk : ResultOf(*error);
  ++counts_[static_cast<size_t>(op)][static_cast<size_t>(result)];
}

Result<Blob> CountedStore::Get(const Key& key, const Call& call) {
  Result<Blob> blob = below_.Get(key, call);
  Count(StoreOp::kGet, ErrorOf(blob));
  return blob;
}

Result<Stored> CountedStore::Put(std::span<const Item> items, Durability durability,
                                 const Call& call) {
  Result<Stored> stored = below_.Put(items, durability, call);
  Count(StoreOp::kPut, ErrorOf(stored));
  return stored;
}

Result<std::vector<Key>> CountedStore::FindMissing(std::span<const Key> keys, const Call& call) {
  Result<std::vector<Key>> missing = below_.FindMissing(keys, call);
  Count(StoreOp::kFindMissing, ErrorOf(missing));
  return missing;
}

CallCounts CountedStore::Counts() const {
  CallCounts counts{};
  for (size_t op = 0; op < kStoreOpCount; ++op) {
    for (size_t result = 0; result < kCallResultCount; ++result) {
      counts[op][result] = counts_[op][result].load();
    }
  }
  return counts;
}

}  // namespace kiln::cache
