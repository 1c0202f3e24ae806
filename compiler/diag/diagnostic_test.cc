// SPDX-License-Identifier: MIT
#include "compiler/diag/diagnostic.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace kiln {
namespace {

Location At(uint32_t module, uint32_t begin, uint32_t end) {
  return {.module = module, .bytes = {.begin = begin, .end = end}};
}

Diagnostic Operator(const Location& where, std::string_view op) {
  return Make(Code::kRpl6022, where).With("op", op).With("left", "f3").With("right", "f4");
}

TEST(Message, Arguments_ReplaceTheirPlaceholders) {
  EXPECT_EQ(Message(Operator(At(0, 1, 2), "*")), "operator '*' on 'f3' and 'f4'");
  EXPECT_EQ(Message(Make(Code::kRpl1008, {}).With("size", 5000000).With("limit", 4194304u)),
            "source has 5000000 bytes, the limit is 4194304");
  EXPECT_EQ(Message(Make(Code::kRpl1163, {})), "empty statement");
}

TEST(Message, ValueWithBraces_IsNotReplacedAgain) {
  EXPECT_EQ(Message(Make(Code::kRpl1002, {}).With("text", "{text}")),
            "unexpected character '{text}'");
}

TEST(MessageDeathTest, MissingArgument_IsAKilnBug) {
#ifdef NDEBUG
  EXPECT_THROW(static_cast<void>(Message(Make(Code::kRpl1002, {}))), std::exception);
#else
  EXPECT_DEATH(static_cast<void>(Message(Make(Code::kRpl1002, {}))), "no argument 'text'");
#endif
}

TEST(Diagnostic, Builder_KeepsOrder) {
  const Diagnostic made = Operator(At(1, 5, 6), "+")
                              .Label(LabelKind::kType, At(1, 1, 2), {{"type", "f3"}})
                              .Label(LabelKind::kType, At(1, 8, 9), {{"type", "f4"}})
                              .Note(NoteKind::kAccepted, {{"accepted", "equal types"}});
  EXPECT_EQ(made.severity, Severity::kError);
  ASSERT_EQ(made.labels.size(), 2u);
  EXPECT_EQ(LabelText(made.labels[1]), "'f4'");
  EXPECT_EQ(NoteText(made.notes[0]), "accepted: equal types");
  EXPECT_EQ(HeadingOf(made.notes[0].kind), NoteHeading::kHelp);
}

TEST(HasErrors, OnlyWarnings_IsFalse) {
  const Diagnostic warning = Make(Code::kRpl2001, {}).With("module", "a");
  EXPECT_FALSE(HasErrors({}));
  EXPECT_FALSE(HasErrors(std::span(&warning, 1)));
  const Diagnostic error = Make(Code::kRpl1163, {});
  EXPECT_TRUE(HasErrors(std::span(&error, 1)));
}

TEST(SortAndMerge, AnyOrder_GivesModuleOffsetCode) {
  const std::vector<Diagnostic> sorted = {
      Make(Code::kRpl1163, At(0, 4, 5)),
      Make(Code::kRpl1164, At(0, 4, 5)),
      Operator(At(0, 9, 10), "*"),
      Operator(At(0, 9, 10), "+"),
      Operator(At(0, 9, 10), "+").Note(NoteKind::kLimit, {{"limit", 4}}),
      Make(Code::kRpl1001, At(1, 0, 1)).With("offset", 0),
      Make(Code::kRpl2007, {}).With("name", "bias"),
  };
  std::mt19937 random(2);
  for (int round = 0; round < 20; ++round) {
    std::vector<Diagnostic> shuffled = sorted;
    shuffled.insert(shuffled.end(), sorted.begin(), sorted.end());
    std::ranges::shuffle(shuffled, random);
    SortAndMerge(shuffled);
    EXPECT_EQ(shuffled, sorted);
  }
}

TEST(Diagnosed, Warnings_ComeWithAValue) {
  const Diagnosed<int> diagnosed{.value = 3,
                                 .diagnostics = {Make(Code::kRpl2001, {}).With("module", "a")}};
  EXPECT_TRUE(diagnosed.ok());
  EXPECT_FALSE(Diagnosed<int>{}.ok());
}

}  // namespace
}  // namespace kiln
