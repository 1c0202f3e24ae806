// SPDX-License-Identifier: MIT
#include "server/rpc/messages/outcome_bytes.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "server/rpc/messages/convert_reply.h"

namespace kiln::rpc {
namespace {

// Of random values, zero and empty ones among them.
class RandomOutcome {
 public:
  explicit RandomOutcome(uint32_t seed) : random_(seed) {}

  compile::Outcome Make() {
    compile::Artifact artifact{.target = Text(8)};
    const std::vector<std::optional<ir::Stage>> stages = {
        std::nullopt, ir::Stage::kVertex, ir::Stage::kFragment, ir::Stage::kCompute};
    for (uint64_t i = Below(4); i > 0; --i) {
      artifact.code.push_back({.stage = stages[Below(stages.size())], .digest = AnyDigest()});
    }
    artifact.metadata = AnyDigest();
    std::vector<std::string> names;
    for (uint64_t i = Below(30); i > 0; --i) {
      names.push_back(Text(200));
    }
    artifact.live_options = std::move(names);
    artifact.layout_hash = AnyDigest().id;
    artifact.state_id = AnyDigest().id;
    artifact.signature = AnyDigest().id;
    artifact.origin = static_cast<compile::Origin>(1 + Below(5));
    artifact.stored = Below(2) == 1;
    artifact.cpu_us = Below(2) * random_();
    artifact.build_id = Text(40);
    compile::Outcome outcome;
    outcome.artifact = std::move(artifact);
    return outcome;
  }

 private:
  uint64_t Below(uint64_t end) { return random_() % end; }
  std::string Text(uint64_t most) {
    std::string text(Below(most + 1), ' ');
    std::ranges::generate(text, [&] { return static_cast<char>('a' + Below(26)); });
    return text;
  }
  Digest AnyDigest() {
    Digest digest = DigestOf(std::string_view(Text(20)));
    digest.size = random_() >> Below(65 - 1);
    return Below(10) == 0 ? Digest{} : digest;
  }

  std::mt19937_64 random_;
};

TEST(AppendOutcome, AnyArtifact_IsWhatTheMessageWouldBe) {
  RandomOutcome random(3);
  for (uint64_t i = 0; i < 2'000; ++i) {
    const compile::Outcome outcome = random.Make();
    ASSERT_TRUE(IsPlain(outcome));
    const uint64_t index = i % 3 == 0 ? 0 : i * i;
    v1::Outcome message;
    ToProto(outcome, message);
    message.set_index(index);
    std::string bytes = "before";
    AppendOutcome(outcome, index, bytes);
    ASSERT_EQ(bytes, "before" + message.SerializeAsString()) << message.DebugString();
  }
}

TEST(IsPlain, WhatHasMoreToSay_IsNot) {
  const compile::Outcome plain = RandomOutcome(1).Make();
  compile::Outcome failed = plain;
  failed.kind = compile::OutcomeKind::kSourceError;
  compile::Outcome empty = plain;
  empty.artifact.reset();
  compile::Outcome warned = plain;
  warned.diagnostics.emplace_back();
  compile::Outcome remembered = plain;
  remembered.from_negative_cache = true;
  for (const compile::Outcome& outcome : {failed, empty, warned, remembered}) {
    EXPECT_FALSE(IsPlain(outcome));
  }
}

}  // namespace
}  // namespace kiln::rpc
