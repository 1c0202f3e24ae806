// SPDX-License-Identifier: MIT
#include "server/reload/event_log.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "server/reload/glob.h"

namespace kiln::reload {
namespace {

NewArtifact ArtifactOf(const std::string& program, const std::string& variant, uint64_t generation,
                       Change change = {.code = true}) {
  compile::Artifact artifact;
  artifact.target = "vk";
  return {.generation = generation,
          .program = program,
          .variant = variant,
          .options = std::make_shared<const Options>(),
          .artifact = std::make_shared<const compile::Artifact>(artifact),
          .change = change};
}

std::vector<uint64_t> TakeAll(EventLog& log) {
  std::vector<uint64_t> numbers;
  while (const std::optional<Event> event = log.Take()) {
    numbers.push_back(event->seq);
  }
  return numbers;
}

TEST(EventLog, Events_AreNumberedFromOneWithoutGaps) {
  EventLog log;
  for (int i = 0; i < 3; ++i) {
    log.Append(ProgramsSettled{});
  }
  EXPECT_EQ(TakeAll(log), (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(log.waiting(), 0u);
}

TEST(EventLog, Rewind_GivesWhatCameBehindAgain) {
  EventLog log;
  for (int i = 0; i < 5; ++i) {
    log.Append(ProgramsSettled{});
  }
  TakeAll(log);
  ASSERT_TRUE(log.Rewind(3));
  EXPECT_EQ(TakeAll(log), (std::vector<uint64_t>{4, 5}));
  ASSERT_TRUE(log.Rewind(5));
  EXPECT_TRUE(TakeAll(log).empty());
}

TEST(EventLog, RewindBeyondTheEnd_IsRefused) {
  EventLog log;
  log.Append(ProgramsSettled{});
  EXPECT_FALSE(log.Rewind(2));
  EXPECT_EQ(log.waiting(), 1u);
}

TEST(EventLog, TakenEvents_AreKeptUpToTheLimitOfReplay) {
  EventLog log;
  for (size_t i = 0; i < EventLog::kReplayed + 1; ++i) {
    log.Append(ProgramsSettled{});
    TakeAll(log);
  }
  EXPECT_FALSE(log.Rewind(0));
  ASSERT_TRUE(log.Rewind(1));
  EXPECT_EQ(TakeAll(log).size(), EventLog::kReplayed);
}

TEST(EventLog, NobodyTakes_TheNewestOfEachVariantStays) {
  EventLog log;
  const size_t rounds = EventLog::kWaiting;
  log.Append(ProgramsSettled{});
  TakeAll(log);
  for (uint64_t i = 1; i <= rounds; ++i) {
    log.Append(ArtifactOf("rock", "fog=true", i, {.layout = i == 1}));
    log.Append(ArtifactOf("rock", "fog=false", i));
  }
  EXPECT_LE(log.waiting(), EventLog::kWaiting + 2);
  EXPECT_GT(log.conflated(), 0u);
  std::vector<Event> events;
  while (std::optional<Event> event = log.Take()) {
    events.push_back(*std::move(event));
  }
  const Event& last = events.back();
  EXPECT_EQ(last.seq, 1 + 2 * rounds);
  EXPECT_EQ(std::get<NewArtifact>(last.body).generation, rounds);
  EXPECT_TRUE(events.front().conflated);
  for (size_t i = 1; i < events.size(); ++i) {
    EXPECT_EQ(events[i].conflated, events[i].seq != events[i - 1].seq + 1) << events[i].seq;
  }
}

TEST(EventLog, ConflatedArtifact_TellsEverythingThatHasChanged) {
  EventLog log;
  log.Append(ArtifactOf("rock", "a", 1, {.layout = true}));
  for (uint64_t i = 0; i < EventLog::kWaiting; ++i) {
    log.Append(ArtifactOf("rock", "a", 2 + i, {.code = true}));
  }
  const std::optional<Event> event = log.Take();
  ASSERT_TRUE(event.has_value());
  EXPECT_TRUE(std::get<NewArtifact>(event->body).change.layout);
  EXPECT_TRUE(event->conflated);
}

TEST(EventLog, DifferentVariants_AreNeverLost) {
  EventLog log;
  for (size_t i = 0; i < 5 * EventLog::kWaiting; ++i) {
    log.Append(ArtifactOf("rock", std::to_string(i), 1));
  }
  EXPECT_EQ(TakeAll(log).size(), 5 * EventLog::kWaiting);
  EXPECT_EQ(log.conflated(), 0u);
}

TEST(Glob, Table) {
  struct Row {
    const char* glob;
    const char* name;
    bool matches;
  };
  for (const Row& row : {Row{"*", "", true},
                         {"rock/*", "rock/forward", true},
                         {"rock/*", "rocks/forward", false},
                         {"r?ck", "rock", true},
                         {"*a*b", "xaxxb", true},
                         {"*a*b", "xaxxbc", false},
                         {"", "a", false},
                         {"a", "a", true},
                         {"**", "abc", true}}) {
    EXPECT_EQ(GlobMatches(row.glob, row.name), row.matches) << row.glob << " " << row.name;
  }
}

}  // namespace
}  // namespace kiln::reload
