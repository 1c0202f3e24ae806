// SPDX-License-Identifier: MIT
#include "cache/explain/explain_ring.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace kiln::cache {
namespace {

// A log in memory.
class FakeLog final : public ExplainLog {
 public:
  uint64_t NextSeq() override { return rows.empty() ? 1 : rows.back()->seq + 1; }
  void Append(std::span<const std::shared_ptr<const ExplainRecord>> records) override {
    rows.insert(rows.end(), records.begin(), records.end());
  }
  Result<std::vector<ExplainRecord>> Records(const ExplainSlot& slot) override {
    ++reads;
    std::vector<ExplainRecord> found;
    for (const auto& row : rows) {
      if (row->slot == slot) {
        found.push_back(*row);
      }
    }
    return found;
  }
  Result<void> Each(const std::stop_token&,
                    const std::function<void(const ExplainRecord&)>& each) override {
    for (const auto& row : rows) {
      each(*row);
    }
    return {};
  }
  Result<std::optional<ExplainRecord>> Find(const Hash128& signature,
                                            const std::stop_token&) override {
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
      if ((*row)->signature == signature) {
        return std::optional(**row);
      }
    }
    return std::optional<ExplainRecord>();
  }

  std::vector<std::shared_ptr<const ExplainRecord>> rows;
  int reads = 0;
};

ExplainRecord MissOf(const std::string& program, const std::string& fog, int64_t at_ms = 1) {
  ExplainRecord record{.slot = {.project = "demo", .program = program, .target = "vk"},
                       .at_ms = at_ms};
  record.inputs = ExplainInputs{.options = {{"fog", fog}}};
  record.live_options = {"fog"};
  record.signature = DigestOf(program + fog).id;
  return record;
}

class ExplainRingTest : public testing::Test {
 protected:
  FakeClock clock;
  FakeLog log;
};

TEST_F(ExplainRingTest, Misses_GetTheirCauseWhenTheyAreAppended) {
  ExplainRing ring(nullptr, clock, {.why_absent = [](const Hash128&) {
                     return Absence{.cause = Cause::kCorrupt, .detail = "found damaged"};
                   }});
  const uint64_t first = ring.Append(MissOf("rock", "true"));
  const uint64_t second = ring.Append(MissOf("rock", "false"));
  const uint64_t third = ring.Append(MissOf("rock", "true"));
  EXPECT_EQ(ring.WithSeq(first)->cause, Cause::kFirstSeen);
  EXPECT_EQ(ring.WithSeq(second)->cause, Cause::kOption);
  EXPECT_EQ(ring.WithSeq(third)->cause, Cause::kCorrupt);
  EXPECT_EQ(ring.WithSeq(third)->detail, "found damaged");
  EXPECT_EQ(ring.ExplainOf(*ring.WithSeq(second)).changes.size(), 1u);
  EXPECT_EQ(ring.MissCauses()[static_cast<size_t>(Cause::kFirstSeen)], 1u);
}

TEST_F(ExplainRingTest, Hits_KnowWhenTheirResultWasMade) {
  ExplainRing ring(nullptr, clock, {});
  ring.Append(MissOf("rock", "true", 1000));
  ExplainRecord hit = MissOf("rock", "true", 61'000);
  hit.result = ExplainResult::kHitMemory;
  EXPECT_EQ(ring.ExplainOf(*ring.WithSeq(ring.Append(hit))).age_ms, 60'000);
}

TEST_F(ExplainRingTest, HitsAgain_AreTheRecordsThatAppendingThemWouldLeave) {
  FakeLog other_log;
  ExplainRing quick(&log, clock, {.flush_at = 40});
  ExplainRing plain(&other_log, clock, {.flush_at = 40});
  std::mt19937 random(7);
  std::vector<uint64_t> hits;
  for (int i = 0; i < 3000; ++i) {
    clock.Advance(std::chrono::milliseconds(random() % 40));
    const std::string trace = std::to_string(i);
    const uint32_t kind = random() % 16;
    if (kind == 0 || hits.empty()) {
      ExplainRecord record =
          MissOf("p" + std::to_string(random() % 5), std::to_string(random() % 3), 10 + i);
      record.result = random() % 2 == 0 ? ExplainResult::kMiss : ExplainResult::kHitMemory;
      record.trace = trace;
      const uint64_t seq = quick.Append(record);
      ASSERT_EQ(plain.Append(record), seq);
      if (record.result != ExplainResult::kMiss) {
        hits.push_back(seq);
      }
    } else if (kind < 13) {
      const auto before = plain.WithSeq(hits[random() % hits.size()]);
      if (before != nullptr) {
        ExplainRecord record = *before;
        record.at_ms = clock.UnixTime() / std::chrono::milliseconds(1);
        record.trace = trace;
        record.stage_us = {{"lookup", kind}};
        const uint64_t seq = plain.Append(record);
        ASSERT_EQ(quick.AppendAgain(before, trace, kind), seq);
        hits.push_back(seq);
      }
    } else if (kind == 13) {
      const uint64_t seq = hits[random() % hits.size()];
      const auto a = quick.WithSeq(seq), b = plain.WithSeq(seq);
      ASSERT_EQ(a == nullptr, b == nullptr);
      ASSERT_TRUE(a == nullptr || *a == *b);
    } else if (kind == 14) {
      const ExplainSlot slot = MissOf("p" + std::to_string(random() % 5), "").slot;
      const auto a = quick.Records(slot), b = plain.Records(slot);
      ASSERT_TRUE(
          std::ranges::equal(a, b, [](const auto& one, const auto& two) { return *one == *two; }));
    } else {
      const auto a = quick.Last(20), b = plain.Last(20);
      ASSERT_TRUE(
          std::ranges::equal(a, b, [](const auto& one, const auto& two) { return *one == *two; }));
    }
  }
  quick.Flush();
  plain.Flush();
  ASSERT_EQ(log.rows.size(), other_log.rows.size());
  for (size_t i = 0; i < log.rows.size(); ++i) {
    ASSERT_EQ(*log.rows[i], *other_log.rows[i]) << i;
  }
}

TEST_F(ExplainRingTest, AQuestion_LeavesNothing) {
  ExplainRing ring(&log, clock, {});
  ring.Append(MissOf("rock", "true"));
  EXPECT_EQ(ring.ExplainOf(MissOf("rock", "false")).cause, Cause::kOption);
  EXPECT_EQ(ring.MissCauses()[static_cast<size_t>(Cause::kOption)], 0u);
  EXPECT_EQ(ring.Last(10).size(), 1u);
}

TEST_F(ExplainRingTest, Restart_GoesOnWhereTheLogEnds) {
  {
    ExplainRing ring(&log, clock, {});
    EXPECT_EQ(ring.Append(MissOf("rock", "true")), 1u);
    EXPECT_TRUE(log.rows.empty());  // waits
  }
  ASSERT_EQ(log.rows.size(), 1u);
  log.reads = 0;
  ExplainRing ring(&log, clock, {});
  EXPECT_EQ((*ring.WithSignature(DigestOf("rocktrue").id, {}))->seq, 1u);
  EXPECT_EQ(*ring.WithSignature(DigestOf("nobody").id, {}), nullptr);
  const uint64_t next = ring.Append(MissOf("rock", "false"));
  EXPECT_EQ(next, 2u);
  EXPECT_EQ(ring.WithSeq(next)->cause, Cause::kOption);
  ring.Append(MissOf("rock", "false"));
  EXPECT_EQ(log.reads, 1);
}

TEST_F(ExplainRingTest, RecordsWait_UntilThereAreManyOrTheyAreOld) {
  ExplainRing ring(&log, clock, {.flush_at = 3});
  ring.Append(MissOf("rock", "1"));
  ring.Append(MissOf("rock", "2"));
  EXPECT_EQ(log.rows.size(), 0u);
  ring.Append(MissOf("rock", "3"));
  EXPECT_EQ(log.rows.size(), 3u);
  ring.Append(MissOf("rock", "4"));
  clock.Advance(std::chrono::seconds(2));
  ring.Append(MissOf("rock", "5"));
  EXPECT_EQ(log.rows.size(), 5u);
}

TEST_F(ExplainRingTest, UpstreamThatGaveNoAnswer_IsToldWithEveryMissThatHasNoOtherDetail) {
  std::string said = "upstream https://a fails: so";
  ExplainRing ring(nullptr, clock, {.unanswered = [&] { return said; }});
  (void)ring.Append(MissOf("rock", "true"));
  const auto changed = ring.WithSeq(ring.Append(MissOf("rock", "false")));
  EXPECT_EQ(changed->cause, Cause::kOption);
  EXPECT_EQ(changed->detail, said);
  const std::string text = ExplanationText(ring.ExplainOf(*changed));
  EXPECT_NE(text.find("\n      " + said), std::string::npos) << text;
  said.clear();
  EXPECT_EQ(ring.WithSeq(ring.Append(MissOf("rock", "other")))->detail, "");
}

// Paths and options are the sender's, so records may be long.
TEST_F(ExplainRingTest, MemoryOfLongRecords_IsBoundedByTheirBytes) {
  ExplainRing ring(&log, clock, {.max_bytes = 100'000, .flush_bytes_at = 50'000});
  const auto append = [&](const std::string& program, int i) {
    ExplainRecord record = MissOf(program, std::to_string(i));
    ExplainInputs inputs = *record.inputs;
    inputs.modules.push_back({.path = std::string(9'000, 'p'), .source = {}, .image = {}});
    record.inputs = inputs;
    return ring.Append(std::move(record));
  };
  const auto bytes = [&] {
    uint64_t sum = 0;
    for (const ExplainRing::RecordPtr& record : ring.Last(1000)) {
      sum += BytesOf(*record);
    }
    return sum;
  };
  for (int i = 0; i < 50; ++i) {
    append("one", i);
    EXPECT_LE(bytes(), 100'000u) << i;
  }
  EXPECT_GT(ring.Records(MissOf("one", "").slot).size(), 5u);
  EXPECT_GE(log.rows.size(), 40u) << "records that wait for the log have a bound, too";
  for (int i = 0; i < 50; ++i) {
    const uint64_t last = append("many" + std::to_string(i), i);
    EXPECT_NE(ring.WithSeq(last), nullptr);
    EXPECT_LE(bytes(), 100'000u) << i;
  }
}

TEST_F(ExplainRingTest, Memory_IsBoundedBySlotsUsedLeastLately) {
  ExplainRing ring(&log, clock, {.max_records = 100});
  for (int i = 0; i < 200; ++i) {
    ring.Append(MissOf("one", std::to_string(i)));
  }
  EXPECT_EQ(ring.Records(MissOf("one", "").slot).size(), kExplainPerSlot);
  for (int i = 0; i < 60; ++i) {
    ring.Append(MissOf("two", std::to_string(i)));
  }
  EXPECT_LE(ring.Last(1000).size(), 100u);
  ExplainRecord hit = MissOf("two", "hit");
  hit.result = ExplainResult::kHitMemory;
  const auto latest = ring.WithSeq(ring.Append(hit));
  for (int i = 0; i < 200; ++i) {
    ring.AppendAgain(latest, std::to_string(i), 1);
  }
  EXPECT_LE(ring.Last(1000).size(), 100u);
  ring.Flush();
  EXPECT_EQ(log.rows.size(), 461u);
}

}  // namespace
}  // namespace kiln::cache
