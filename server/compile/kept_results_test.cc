// SPDX-License-Identifier: MIT
#include "server/compile/kept_results.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "cache/record.h"

namespace kiln::compile {
namespace {

// Memory over a file whose writer has a queue: what was put without waiting is found in memory, and
// in the file only once somebody has waited. An upstream may answer, or not.
class QueueingStore final : public cache::BlobStore {
 public:
  Result<cache::Blob> Get(const cache::Key& key, const cache::Call& call) override {
    return memory_.Get(key, call);
  }
  Result<cache::PutResult> Put(std::span<const cache::Item> items, cache::Durability durability,
                               const cache::Call& call) override {
    if (!call.may_write) {
      return Error{
          .code = ErrorCode::kFailedPrecondition, .context = "reads", .reason = "READ_ONLY"};
    }
    put += items.size();
    if (takes) {
      queue_.insert(queue_.end(), items.begin(), items.end());
    }
    (void)memory_.Put(items, durability, call);
    if (durability != cache::Durability::kRelaxed) {
      (void)file_.Put(queue_, durability, call);
      queue_.clear();
    }
    if (!takes && !items.empty()) {
      return Error{.code = ErrorCode::kFull, .context = "full", .reason = "CACHE_FULL"};
    }
    if (durability == cache::Durability::kQuorum && !answers) {
      return Error{.code = ErrorCode::kUnavailable,
                   .context = "nobody is there",
                   .reason = std::string(cache::kUpstreamDown)};
    }
    return cache::PutResult{};
  }
  Result<std::vector<cache::Key>> FindMissing(std::span<const cache::Key> keys,
                                              const cache::Call& call) override {
    return file_.FindMissing(keys, call);
  }
  void Touch(std::span<const cache::Key>) override {}

  bool takes = true, answers = true;
  size_t put = 0;  // items

 private:
  cache::MemoryStore memory_{nullptr, nullptr, {}}, file_{nullptr, nullptr, {}};
  std::vector<cache::Item> queue_;
};

TEST(KeptResults, WhoAsksForThem_WaitsUntilTheyAreKept) {
  using cache::Durability;
  enum class Before { kUnknown, kRefused, kQueued, kStored };
  struct Row {
    const char* name;
    Before before;
    Durability wanted;
    bool takes, answers, may_write;
    uint64_t refused;
    bool put_again;
  };
  const std::vector<Row> rows = {
      {"nothing is asked for", Before::kQueued, Durability::kRelaxed, true, true, true, 0, false},
      {"it is stored", Before::kStored, Durability::kDurable, true, true, true, 0, false},
      {"it is on its way", Before::kQueued, Durability::kDurable, true, true, true, 0, false},
      {"and a reader asks", Before::kQueued, Durability::kDurable, true, true, false, 0, false},
      {"memory alone has it", Before::kRefused, Durability::kDurable, true, true, true, 0, true},
      {"the file is full", Before::kRefused, Durability::kDurable, false, true, true, 1, true},
      {"a reader cannot mend it", Before::kRefused, Durability::kDurable, true, true, false, 1,
       false},
      {"it is nowhere", Before::kUnknown, Durability::kDurable, true, true, true, 1, false},
      {"the upstream has it now", Before::kStored, Durability::kQuorum, true, true, true, 0, true},
      {"the upstream is gone", Before::kStored, Durability::kQuorum, true, false, true, 1, true},
      {"a reader sends nothing", Before::kStored, Durability::kQuorum, true, true, false, 1, false},
  };
  const cache::Item content =
      cache::ContentItem(cache::CopiedBlob(AsBytes(std::string_view("code"))));
  cache::Record record;
  record.products.push_back({.digest = {.id = content.key.id, .size = 4}});
  const cache::Item result = cache::RecordItem(cache::Level::kSignature, 0, {}, record);
  for (const Row& row : rows) {
    QueueingStore store;
    store.takes = row.before != Before::kRefused;
    if (row.before != Before::kUnknown) {
      for (const cache::Item& item : {content, result}) {
        (void)store.Put(std::span(&item, 1), Durability::kRelaxed, {});
      }
    }
    if (row.before == Before::kStored) {
      (void)store.Put({}, Durability::kDurable, {});
    }
    store.takes = row.takes;
    store.answers = row.answers;
    store.put = 0;
    const RefusedResults refused =
        KeepResults(store, std::span(&result.key, 1), row.wanted, {.may_write = row.may_write});
    EXPECT_EQ(refused.results, row.refused) << row.name;
    EXPECT_EQ(refused.why.has_value(), row.refused != 0) << row.name;
    EXPECT_EQ(store.put != 0, row.put_again) << row.name;
  }
}

}  // namespace
}  // namespace kiln::compile
