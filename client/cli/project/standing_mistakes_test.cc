// SPDX-License-Identifier: MIT
// A table of answers: which programs are renewed, what is wrong with each, and what is said.
#include "client/cli/project/standing_mistakes.h"

#include <gmock/gmock.h>

namespace kiln::cli {
namespace {

using News = StandingMistakes::News;
using testing::ElementsAre;
using testing::IsEmpty;

PlacedDiagnostic Wrong(uint32_t line) {
  PlacedDiagnostic diagnostic;
  diagnostic.code = "RPL6022";
  diagnostic.message = "wrong";
  diagnostic.primary = {
      .path = "x.rpl", .line = line, .column = 5, .end_line = line, .end_column = 6};
  return diagnostic;
}

std::vector<News> Say(StandingMistakes& standing, const std::string& program,
                      const std::vector<uint32_t>& lines) {
  std::vector<PlacedDiagnostic> all;
  for (const uint32_t line : lines) {
    all.push_back(Wrong(line));
  }
  return standing.Add(program, all);
}

void Renew(StandingMistakes& standing, const std::vector<std::string>& programs) {
  standing.Renew(programs);
}

TEST(StandingMistakes, ProgramThatComes_HasWhatIsKnown) {
  StandingMistakes standing;
  Renew(standing, {"rock"});
  EXPECT_THAT(Say(standing, "rock", {3, 4}), ElementsAre(News::kTold, News::kTold));
  standing.Settle();
  Renew(standing, {"mud"});
  EXPECT_THAT(Say(standing, "mud", {3, 9}), ElementsAre(News::kJoined, News::kTold));
  EXPECT_THAT(standing.ProgramsWith(Wrong(3)), ElementsAre("mud", "rock"));
  EXPECT_THAT(standing.ProgramsWith(Wrong(9)), ElementsAre("mud"));
}

// The one that is known is looked at again as well, before or after the other.
TEST(StandingMistakes, AllAreRenewed_WhatStaysIsNotSaid) {
  for (const bool known_first : {false, true}) {
    StandingMistakes standing;
    Renew(standing, {"rock"});
    (void)Say(standing, "rock", {3});
    standing.Settle();
    Renew(standing, {"mud", "rock"});
    if (known_first) {
      EXPECT_THAT(Say(standing, "rock", {3}), ElementsAre(News::kNone));
    }
    EXPECT_THAT(Say(standing, "mud", {3}), ElementsAre(News::kJoined)) << known_first;
    if (!known_first) {
      EXPECT_THAT(Say(standing, "rock", {3}), ElementsAre(News::kNone));
    }
    EXPECT_THAT(standing.ProgramsWith(Wrong(3)), ElementsAre("mud", "rock"));
  }
}

TEST(StandingMistakes, SomethingElseIsWrong_AllIsSaidOnce) {
  StandingMistakes standing;
  Renew(standing, {"mud", "rock"});
  EXPECT_THAT(Say(standing, "mud", {3, 4}), ElementsAre(News::kTold, News::kTold));
  EXPECT_THAT(Say(standing, "rock", {3, 4}), ElementsAre(News::kJoined, News::kJoined));
  standing.Settle();
  Renew(standing, {"mud", "rock"});
  EXPECT_THAT(Say(standing, "mud", {4}), ElementsAre(News::kTold));
  EXPECT_THAT(Say(standing, "rock", {4}), ElementsAre(News::kNone));
  standing.Settle();
  Renew(standing, {"rock"});
  EXPECT_THAT(Say(standing, "rock", {4}), ElementsAre(News::kNone)) << "nothing else";
}

TEST(StandingMistakes, Steps_AreNotSaidTwice) {
  StandingMistakes standing;
  Renew(standing, {"rock"});
  EXPECT_THAT(Say(standing, "rock", {3}), ElementsAre(News::kTold));
  EXPECT_THAT(Say(standing, "rock", {3, 4}), ElementsAre(News::kNone, News::kTold));
}

// The first step says what was wrong before, and the second one that there is more.
TEST(StandingMistakes, StepsOfWhichTheFirstHasNoNews_AllIsSaid) {
  StandingMistakes standing;
  Renew(standing, {"rock"});
  (void)Say(standing, "rock", {3});
  standing.Settle();
  Renew(standing, {"rock"});
  EXPECT_THAT(Say(standing, "rock", {3}), ElementsAre(News::kNone));
  EXPECT_THAT(Say(standing, "rock", {3, 4}), ElementsAre(News::kTold, News::kTold));
}

TEST(StandingMistakes, WhatWasMended_IsNewsWhenItComesBack) {
  StandingMistakes standing;
  Renew(standing, {"rock"});
  (void)Say(standing, "rock", {3});
  standing.Settle();
  Renew(standing, {"rock"});
  standing.Settle();
  EXPECT_THAT(standing.ProgramsWith(Wrong(3)), IsEmpty());
  Renew(standing, {"rock"});
  EXPECT_THAT(Say(standing, "rock", {3}), ElementsAre(News::kTold));
}

TEST(StandingMistakes, ProgramThatIsGone_HasNothing) {
  StandingMistakes standing;
  Renew(standing, {"rock"});
  (void)Say(standing, "rock", {3});
  standing.Settle();
  standing.Keep({"mud"});
  Renew(standing, {"mud"});
  EXPECT_THAT(Say(standing, "mud", {3}), ElementsAre(News::kTold));
  standing.Forget();
  EXPECT_THAT(Say(standing, "mud", {3}), ElementsAre(News::kTold));
}

}  // namespace
}  // namespace kiln::cli
