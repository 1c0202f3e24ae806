// SPDX-License-Identifier: MIT
#include "cache/decorators/last_error_store.h"

#include <gtest/gtest.h>

namespace kiln::cache {
namespace {

// Answers as it is told.
class Told final : public BlobStore {
 public:
  Result<Blob> Get(const Key&, const Call&) override { return Answer<Blob>(); }
  Result<PutResult> Put(std::span<const Item>, Durability, const Call&) override {
    return Answer<PutResult>();
  }
  Result<std::vector<Key>> FindMissing(std::span<const Key>, const Call&) override {
    return Answer<std::vector<Key>>();
  }
  void Touch(std::span<const Key>) override {}
  std::optional<ErrorCode> code;

 private:
  template <class T>
  Result<T> Answer() const {
    return code.has_value() ? Result<T>(Error{.code = *code, .context = "so"}) : Result<T>(T{});
  }
};

class Watched : public testing::Test {
 protected:
  void Get(std::optional<ErrorCode> code) {
    below.code = code;
    (void)store.Get({}, {});
  }
  void Put(std::optional<ErrorCode> code) {
    below.code = code;
    (void)store.Put({}, Durability::kDurable, {});
  }
  Told below;
  SystemClock clock;
  LastErrorStore store{below, clock};
};

TEST_F(Watched, BeforeTheFirstCall_NothingIsKnown) {
  EXPECT_FALSE(store.asked());
  EXPECT_FALSE(store.failure(LastErrorStore::kReads).has_value());
  Get(ErrorCode::kCancelled);
  EXPECT_FALSE(store.asked());
}

TEST_F(Watched, WhatIsNoAnswer_IsAFailureUntilThereIsOne) {
  for (const ErrorCode code :
       {ErrorCode::kUnavailable, ErrorCode::kDeadlineExceeded, ErrorCode::kUnauthenticated,
        ErrorCode::kPermissionDenied, ErrorCode::kUnimplemented, ErrorCode::kInternal}) {
    Get(code);
    ASSERT_TRUE(store.failure(LastErrorStore::kReads).has_value()) << ErrorCodeName(code);
    EXPECT_EQ(store.failure(LastErrorStore::kReads)->error.code, code);
    EXPECT_GT(store.failure(LastErrorStore::kReads)->since_s, 0);
    Get(ErrorCode::kCancelled);
    EXPECT_TRUE(store.failure(LastErrorStore::kReads).has_value());
    Get(std::nullopt);
    EXPECT_FALSE(store.failure(LastErrorStore::kReads).has_value());
  }
}

TEST_F(Watched, AnswersThatAreNotWhatOneWants_AreAnswers) {
  for (const ErrorCode code : {ErrorCode::kNotFound, ErrorCode::kCorrupt, ErrorCode::kFull,
                               ErrorCode::kInvalidArgument, ErrorCode::kFailedPrecondition}) {
    Get(ErrorCode::kUnavailable);
    Get(code);
    EXPECT_FALSE(store.failure(LastErrorStore::kReads).has_value()) << ErrorCodeName(code);
    EXPECT_TRUE(store.asked());
  }
}

TEST_F(Watched, ReadsAndWrites_AreToldApart) {
  Put(ErrorCode::kPermissionDenied);
  Get(std::nullopt);
  EXPECT_FALSE(store.failure(LastErrorStore::kReads).has_value());
  ASSERT_TRUE(store.failure(LastErrorStore::kWrites).has_value());
  EXPECT_EQ(store.failure(LastErrorStore::kWrites)->error.code, ErrorCode::kPermissionDenied);
  Put(std::nullopt);
  EXPECT_FALSE(store.failure(LastErrorStore::kWrites).has_value());
  store.Note(Error{.code = ErrorCode::kUnavailable, .context = "so", .reason = {}});
  EXPECT_TRUE(store.failure(LastErrorStore::kReads).has_value());
  store.Note(Result<void>());
  EXPECT_FALSE(store.failure(LastErrorStore::kReads).has_value());
}

}  // namespace
}  // namespace kiln::cache
