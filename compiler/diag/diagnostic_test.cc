// SPDX-License-Identifier: MIT
#include "compiler/diag/diagnostic.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "compiler/diag/encode.h"

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

// Names are of the author's choice.
TEST(Argument, LongValue_IsCutWhereItIsMade) {
  const std::string name(4 << 20, 'n');
  const Diagnostic made = Make(Code::kRpl6001, {})
                              .With("name", name)
                              .Label(LabelKind::kType, {}, {{"type", name}})
                              .Note(NoteKind::kAccepted, {{"accepted", name}});
  EXPECT_LT(Message(made).size(), 2 * kMaxArgument);
  EXPECT_LT(LabelText(made.labels[0]).size(), 2 * kMaxArgument);
  EXPECT_LT(NoteText(made.notes[0]).size(), 2 * kMaxArgument);
  EXPECT_NE(Message(made).find("nnn..."), std::string::npos);
}

TEST(SortAndMerge, ManyPlaces_AreCounted) {
  std::vector<Diagnostic> found = {Make(Code::kRpl1163, At(0, 4, 5))};
  for (uint32_t i = 0; i < 1000; ++i) {
    found[0].labels.push_back({.kind = LabelKind::kFirstHere, .where = At(0, i, i + 1)});
  }
  SortAndMerge(found);
  ASSERT_EQ(found[0].labels.size(), kMaxLabels);
  ASSERT_EQ(found[0].notes.size(), 1u);
  EXPECT_EQ(NoteText(found[0].notes[0]), "984 more places are not shown");
  const std::vector<Diagnostic> once = found;
  SortAndMerge(found);
  EXPECT_EQ(found, once);
}

TEST(SortAndMerge, LongTexts_AreBoundedTogetherAndTheMostSevereStay) {
  const std::string text(kMaxArgument, 't');
  std::vector<Diagnostic> found;
  for (uint32_t i = 0; i < 300; ++i) {
    Diagnostic warning = Make(Code::kRpl2001, At(0, i, i + 1)).With("module", text);
    for (uint32_t n = 0; n < kMaxLabels; ++n) {
      warning.labels.push_back({.kind = LabelKind::kType,
                                .where = At(0, n, n + 1),
                                .arguments = {{"type", text}, {"name", text}}});
      warning.notes.push_back({.kind = NoteKind::kAccepted, .arguments = {{"accepted", text}}});
    }
    found.push_back(warning);
  }
  found.push_back(Operator(At(9, 0, 1), "+"));
  SortAndMerge(found);
  EXPECT_GT(found.size(), 1u);
  EXPECT_LT(found.size(), kMaxDiagnostics);
  EXPECT_EQ(found.back(), Operator(At(9, 0, 1), "+"));
  EXPECT_LE(EncodeDiagnostics(found).size(), kMaxDiagnosticsBytes);
  EXPECT_TRUE(DecodeDiagnostics(EncodeDiagnostics(found)).ok());
  const std::vector<Diagnostic> once = found;
  SortAndMerge(found);
  EXPECT_EQ(found, once);
}

TEST(SortAndMerge, ManyShortOnes_FitTheirStoredForm) {
  std::vector<Diagnostic> found;
  for (uint32_t i = 0; i < 1000; ++i) {
    found.push_back(Operator(At(0, i, i + 1), "+")
                        .Replace(At(0, i, i + 1), "-")
                        .Label(LabelKind::kType, At(0, 0, 1), {{"type", "f"}}));
  }
  SortAndMerge(found);
  EXPECT_EQ(found.size(), kMaxDiagnostics);
  EXPECT_LE(EncodeDiagnostics(found).size(), kMaxDiagnosticsBytes);
}

TEST(SortAndMerge, EditThatIsTooLong_IsNoEdit) {
  std::vector<Diagnostic> found = {
      Operator(At(0, 0, 1), "+").Replace(At(0, 0, 1), std::string(1 << 20, '-'))};
  SortAndMerge(found);
  EXPECT_FALSE(found[0].fix.has_value());
}

TEST(Diagnosed, Warnings_ComeWithAValue) {
  const Diagnosed<int> diagnosed{.value = 3,
                                 .diagnostics = {Make(Code::kRpl2001, {}).With("module", "a")}};
  EXPECT_TRUE(diagnosed.ok());
  EXPECT_FALSE(Diagnosed<int>{}.ok());
}

}  // namespace
}  // namespace kiln
