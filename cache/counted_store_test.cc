// SPDX-License-Identifier: MIT
#include "cache/counted_store.h"

#include <optional>
#include <utility>

#include <gtest/gtest.h>

namespace kiln::cache {
namespace {

// Fails in a given way, if there is one.
class Failing final : public BlobStore {
 public:
  explicit Failing(std::optional<ErrorCode> code) : code_(code) {}
  Result<Blob> Get(const Key&, const Call&) override { return Answer<Blob>(); }
  Result<Stored> Put(std::span<const Item>, Durability, const Call&) override {
    return Answer<Stored>();
  }
  Result<std::vector<Key>> FindMissing(std::span<const Key>, const Call&) override {
    return Answer<std::vector<Key>>();
  }
  void Touch(std::span<const Key> keys) override { touched += keys.size(); }
  size_t touched = 0;

 private:
  template <class T>
  Result<T> Answer() const {
    return code_.has_value() ? Result<T>(Error{.code = *code_, .context = "so"}) : Result<T>(T{});
  }
  const std::optional<ErrorCode> code_;
};

TEST(CountedStore, EveryAnswer_CountsOnceUnderItsResult) {
  const std::vector<std::pair<std::optional<ErrorCode>, std::string_view>> table = {
      {std::nullopt, "ok"},
      {ErrorCode::kNotFound, "miss"},
      {ErrorCode::kUnavailable, "unavailable"},
      {ErrorCode::kDeadlineExceeded, "deadline"},
      {ErrorCode::kCancelled, "cancelled"},
      {ErrorCode::kCorrupt, "corrupt"},
      {ErrorCode::kFull, "refused"},
      {ErrorCode::kInvalidArgument, "refused"},
  };
  for (const auto& [code, name] : table) {
    Failing below(code);
    CountedStore store(below);
    const std::array<Key, 2> keys{};
    EXPECT_EQ(store.Get({}, {}).ok(), !code.has_value());
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(store.Put({}, Durability::kDurable, {}).ok(), !code.has_value());
    }
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(store.FindMissing(keys, {}).ok(), !code.has_value());
    }
    store.Touch(keys);
    EXPECT_EQ(below.touched, 2u);
    const CallCounts counts = store.Counts();
    for (uint32_t op = 0; op < kStoreOpCount; ++op) {
      for (uint32_t result = 0; result < kCallResultCount; ++result) {
        const bool here = CallResultName(static_cast<CallResult>(result)) == name;
        EXPECT_EQ(counts[op][result], here ? op + 1 : 0)
            << name << " " << StoreOpName(static_cast<StoreOp>(op)) << " " << result;
      }
    }
  }
}

}  // namespace
}  // namespace kiln::cache
