// SPDX-License-Identifier: MIT
#include "compiler/diag/encode.h"

#include <optional>
#include <random>

#include <gtest/gtest.h>

namespace kiln {
namespace {

std::vector<Diagnostic> Sample() {
  const Location numbered{.module = 0, .span_number = 7};
  const Location placed{.module = 1, .bytes = {.begin = 10, .end = 14}};
  return {Make(Code::kRpl6022, numbered)
              .With("op", "+")
              .With("left", "f3")
              .With("right", "f4")
              .Label(LabelKind::kType, {.module = 0, .span_number = 8}, {{"type", "f3"}})
              .Note(NoteKind::kAccepted, {{"accepted", "equal types"}}),
          Make(Code::kRpl1002, placed).With("text", "\xff"),
          Make(Code::kRpl6001, numbered)
              .With("name", "shad")
              .Replace(numbered, "shade", Confidence::kGuess),
          Make(Code::kRpl2007, {}).With("name", "bias")};
}

TEST(EncodeDiagnostics, Stored_IsReadBack) {
  const Result<std::vector<Diagnostic>> read = DecodeDiagnostics(EncodeDiagnostics(Sample()));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, Sample());
  EXPECT_TRUE(DecodeDiagnostics(EncodeDiagnostics({}))->empty());
}

TEST(EncodeDiagnostics, TextMoved_SameBytes) {
  std::vector<Diagnostic> moved = Sample();
  moved[0].primary.bytes = {.begin = 100, .end = 101};
  moved[0].labels[0].where.bytes = {.begin = 90, .end = 95};
  moved[2].fix->where.bytes = {.begin = 100, .end = 101};
  EXPECT_EQ(EncodeDiagnostics(moved), EncodeDiagnostics(Sample()));
}

TEST(FillPositions, SpanNumbers_BecomeBytes) {
  std::vector<Diagnostic> diagnostics = Sample();
  FillPositions(diagnostics, [](uint32_t module, uint32_t number) -> std::optional<Span> {
    EXPECT_EQ(module, 0u);
    return number == 7 ? std::optional(Span{.begin = 3, .end = 5}) : std::nullopt;
  });
  EXPECT_EQ(diagnostics[0].primary.bytes, (Span{3, 5}));
  EXPECT_EQ(diagnostics[0].labels[0].where.bytes, (Span{0, 0}));
  EXPECT_EQ(diagnostics[1].primary.bytes, (Span{10, 14})) << "has its own bytes";
  EXPECT_EQ(diagnostics[2].fix->where.bytes, (Span{3, 5}));
}

TEST(DecodeDiagnostics, MissingArgument_IsCorrupt) {
  std::vector<Diagnostic> diagnostics = Sample();
  diagnostics[0].arguments.pop_back();
  EXPECT_EQ(DecodeDiagnostics(EncodeDiagnostics(diagnostics)).error().code, ErrorCode::kCorrupt);
}

TEST(DecodeDiagnostics, FixOfNoForm_IsCorrupt) {
  std::vector<Diagnostic> diagnostics = Sample();
  diagnostics[2].fix->form = static_cast<Fix::Form>(2);
  EXPECT_EQ(DecodeDiagnostics(EncodeDiagnostics(diagnostics)).error().code, ErrorCode::kCorrupt);
  diagnostics = Sample();
  diagnostics[2].fix->confidence = static_cast<Confidence>(2);
  EXPECT_EQ(DecodeDiagnostics(EncodeDiagnostics(diagnostics)).error().code, ErrorCode::kCorrupt);
}

TEST(DecodeDiagnostics, Truncated_IsCorrupt) {
  const Bytes bytes = EncodeDiagnostics(Sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeDiagnostics(ByteView(bytes).first(size)).ok()) << size;
  }
}

TEST(DecodeDiagnostics, RandomDamage_IsRefusedOrPrintable) {
  std::mt19937 random(9);
  const Bytes bytes = EncodeDiagnostics(Sample());
  for (int round = 0; round < 20000; ++round) {
    Bytes damaged = bytes;
    damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    const Result<std::vector<Diagnostic>> read = DecodeDiagnostics(damaged);
    if (!read.ok()) {
      continue;
    }
    EXPECT_EQ(EncodeDiagnostics(*read), damaged) << "one form only";
    for (const Diagnostic& diagnostic : *read) {
      EXPECT_FALSE(Message(diagnostic).empty());
    }
  }
}

// Messages go into fields of the wire that hold UTF-8: no client reads a reply with any other.
TEST(DecodeDiagnostics, TextThatIsNoUtf8_IsCorrupt) {
  const auto decoded = [](const std::vector<Diagnostic>& diagnostics) {
    const Result<std::vector<Diagnostic>> read = DecodeDiagnostics(EncodeDiagnostics(diagnostics));
    return read.ok() ? std::nullopt : std::optional(read.error().code);
  };
  for (const char* const text : {"\xff", "a\xc3", "\xed\xa0\x80"}) {
    std::vector<Diagnostic> argument = Sample(), label = Sample(), note = Sample(), fix = Sample();
    argument[0].arguments[0].value = text;
    label[0].labels[0].arguments[0].value = text;
    note[0].notes[0].arguments[0].value = text;
    fix[2].fix->text = text;
    for (const std::vector<Diagnostic>& damaged : {argument, label, note, fix}) {
      EXPECT_EQ(decoded(damaged), ErrorCode::kCorrupt) << text;
    }
  }
  std::vector<Diagnostic> nul = Sample();
  nul[0].arguments[0].value = std::string("a\0b", 3);
  EXPECT_EQ(decoded(nul), std::nullopt);
}

TEST(EncodeDiagnostics, ArgumentThatIsNoUtf8_IsSpelledWhereItIsMade) {
  EXPECT_EQ(Sample()[1].arguments[0].value, "\\xff");
}

// What other daemons send.
TEST(DecodeDiagnostics, MoreThanIsEverWritten_IsCorrupt) {
  std::vector<Diagnostic> diagnostics = Sample();
  diagnostics[0].arguments[0].value = std::string(kMaxArgument, 'x');
  EXPECT_TRUE(DecodeDiagnostics(EncodeDiagnostics(diagnostics)).ok());
  diagnostics[0].arguments[0].value += "x";
  EXPECT_EQ(DecodeDiagnostics(EncodeDiagnostics(diagnostics)).error().code, ErrorCode::kCorrupt);
  diagnostics.assign(kMaxDiagnosticsBytes / 64, Sample()[1]);
  EXPECT_EQ(DecodeDiagnostics(EncodeDiagnostics(diagnostics)).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace kiln
