// SPDX-License-Identifier: MIT
// Rows that a store does not take: which of them are refused, and what ends the call.
#include <string>

#include <gtest/gtest.h>

#include "cache/record.h"
#include "cache/store.h"
#include "server/rpc/calls/cache_calls.h"

namespace kiln::rpc {
namespace {

// Every put fails in one way.
class FailingStore final : public cache::BlobStore {
 public:
  explicit FailingStore(Error error) : error_(std::move(error)) {}
  Result<cache::Blob> Get(const cache::Key&, const cache::Call&) override { return error_; }
  Result<cache::PutResult> Put(std::span<const cache::Item>, cache::Durability,
                               const cache::Call&) override {
    return error_;
  }
  Result<std::vector<cache::Key>> FindMissing(std::span<const cache::Key>,
                                              const cache::Call&) override {
    return error_;
  }
  void Touch(std::span<const cache::Key>) override {}

 private:
  const Error error_;
};

v1::PutRowsRequest OneRow() {
  const cache::Item item =
      cache::RecordItem(cache::Level::kSignature, 0, HashBytes(AsBytes("row")), {.products = {}});
  v1::PutRowsRequest request;
  v1::CacheRow& row = *request.add_items();
  row.set_level(v1::CacheRow::SIGNATURE);
  row.set_key(std::string(16, 'k'));
  row.set_value(std::string(AsText(item.value.bytes)));
  return request;
}

// Whoever forwards rows gives up those that are refused and comes again with all if the call fails:
// a broken disk must not look like a broken row.
TEST(PutRows, FailureTable) {
  const struct {
    ErrorCode code;
    std::string reason;   // of the store
    std::string refusal;  // empty: the call fails with the store's error
  } rows[] = {
      {ErrorCode::kFailedPrecondition, "REFS_MISSING", "REFS_MISSING"},
      {ErrorCode::kFull, "", "FULL"},
      {ErrorCode::kInvalidArgument, "", "MALFORMED"},
      {ErrorCode::kAlreadyExists, "COLLISION", "CONFLICT"},
      {ErrorCode::kUnavailable, "IO_ERROR", ""},
      {ErrorCode::kCorrupt, "", ""},
      {ErrorCode::kInternal, "", ""},
      {ErrorCode::kDeadlineExceeded, "", ""},
      {ErrorCode::kFailedPrecondition, "READ_ONLY", ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(ErrorCodeName(row.code)) + " " + row.reason);
    FailingStore store({.code = row.code, .context = "so it is", .reason = row.reason});
    v1::PutRowsReply reply;
    v1::ErrorDetail detail;
    const Result<void> put = PutRows(store, OneRow(), {}, reply, detail);
    EXPECT_EQ(put.ok(), !row.refusal.empty());
    ASSERT_EQ(reply.refused_size(), row.refusal.empty() ? 0 : 1);
    if (row.refusal.empty()) {
      EXPECT_EQ(put.error().code, row.code);
    } else {
      EXPECT_EQ(reply.refused(0).reason(), row.refusal);
    }
  }
}

}  // namespace
}  // namespace kiln::rpc
