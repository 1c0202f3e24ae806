// SPDX-License-Identifier: MIT
#include "cache/decorators/hedged_reads.h"

#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

#include "compiler/base/check.h"

namespace kiln::cache {
namespace {

// A store of which every read throws.
class ThrowingStore final : public BlobStore {
 public:
  explicit ThrowingStore(void (*thrown)()) : thrown_(thrown) {}
  Result<Blob> Get(const Key& /*key*/, const Call& /*call*/) override {
    thrown_();
    return Blob{};
  }
  Result<PutResult> Put(std::span<const Item> /*items*/, Durability /*durability*/,
                        const Call& /*call*/) override {
    return PutResult{};
  }
  Result<std::vector<Key>> FindMissing(std::span<const Key> /*keys*/,
                                       const Call& /*call*/) override {
    return std::vector<Key>();
  }
  void Touch(std::span<const Key> /*keys*/) override {}

 private:
  void (*const thrown_)();
};

TEST(HedgedReads, ReadThatThrows_IsAnErrorForWhoWaits) {
  const struct {
    void (*thrown)();
    ErrorCode code;
  } table[] = {
      {[] { throw std::bad_alloc(); }, ErrorCode::kResourceExhausted},
      {[] { throw std::runtime_error("the sky fell"); }, ErrorCode::kInternal},
      {[] { throw InternalError("a.cc:1: check failed"); }, ErrorCode::kInternal},
      {[] { throw 7; }, ErrorCode::kInternal},
  };
  SystemClock clock;
  for (const auto& row : table) {
    ThrowingStore store(row.thrown);
    HedgedReads reads(store, clock, 1);
    for (int i = 0; i < 2; ++i) {  // its one thread lives on
      const Result<Blob> got = reads.Get({.level = Level::kContent, .space = 0, .id = {}}, {});
      ASSERT_FALSE(got.ok());
      EXPECT_EQ(got.error().code, row.code);
    }
  }
}

}  // namespace
}  // namespace kiln::cache
