// SPDX-License-Identifier: MIT
#include "server/worker/reading.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "compiler/diag/encode.h"
#include "compiler/driver/frontends.h"
#include "compiler/source/source_file.h"

namespace kiln::worker {
namespace {

const std::string& Good() {
  static const std::string text =
      "global fog: flag false;\n"
      "void v (void) { vertex_stage_output_position (f4 {0.0}); }\n";
  return text;
}

Diagnosed<ir::Module> Here(const std::string& text) {
  return driver::ParseSource(ir::Language::kRpl, SourceFile("p.rpl", text), 0);
}

class Reading : public testing::TestWithParam<const char*> {};

TEST_P(Reading, OfASource_IsWhatTheFrontEndMadeHere) {
  const std::string text = Good() + GetParam();
  const Diagnosed<ir::Module> here = Here(text);
  const Result<Bytes> bytes =
      ReadSource(LanguageAndPath(ir::Language::kRpl, "p.rpl"), InputOf({}, text));
  ASSERT_TRUE(bytes.ok());
  const Result<Diagnosed<ir::Module>> read = DecodeReading(ir::Language::kRpl, *bytes, text.size());
  ASSERT_TRUE(read.ok()) << read.error().context;
  EXPECT_EQ(read->diagnostics, here.diagnostics);
  ASSERT_EQ(read->value.has_value(), here.value.has_value());
  if (here.value.has_value()) {
    EXPECT_TRUE(std::ranges::equal(read->value->image(), here.value->image()));
    EXPECT_EQ(read->value->semantic_id(), here.value->semantic_id());
  }
}

INSTANTIATE_TEST_SUITE_P(Sources, Reading,
                         testing::Values("", "f1 half (in f1 x) { return x }\n",
                                         "void v (void) {}\n", "f1 g (void) { return unknown; }\n",
                                         "\xff\xfe", "/* open",
                                         "f1 h (void) { f1 unused = 1.0; return 2.0; }\n"));

TEST(HostileReading, NoByteOfIt_GetsPastTheChecks) {
  const std::string wrong = Good() + "f1 half (in f1 x) { return x }\n";
  for (const std::string& text : {Good(), wrong}) {
    const Bytes good = *ReadSource("rpl p.rpl", InputOf({}, text));
    ASSERT_TRUE(DecodeReading(ir::Language::kRpl, good, text.size()).ok());
    for (size_t size = 0; size < good.size(); size += size < 64 ? 1 : 7) {
      EXPECT_FALSE(DecodeReading(ir::Language::kRpl, ByteView(good).first(size), text.size()).ok())
          << size;
    }
    EXPECT_FALSE(DecodeReading(ir::Language::kRpl, good, 3).ok()) << "places behind the end";
    std::mt19937 random(11);
    for (int i = 0; i < 3000; ++i) {
      Bytes bytes = good;
      for (uint32_t flips = 1 + random() % 3; flips != 0; --flips) {
        bytes[random() % bytes.size()] ^= static_cast<std::byte>(1u << random() % 8);
      }
      (void)DecodeReading(ir::Language::kRpl, bytes, text.size());  // it may be right; never worse
    }
  }
}

TEST(HostileReading, DiagnosticOfAnotherModuleOrPlace_IsRefused) {
  const std::string wrong = Good() + "f1 half (in f1 x) { return x }\n";
  const std::vector<Diagnostic> right = Here(wrong).diagnostics;
  ASSERT_FALSE(right.empty());
  const auto decode = [&](const std::vector<Diagnostic>& diagnostics) {
    return DecodeReading(ir::Language::kRpl,
                         EncodeReading({.value = std::nullopt, .diagnostics = diagnostics}),
                         wrong.size())
        .ok();
  };
  EXPECT_TRUE(decode(right));
  EXPECT_FALSE(decode({}));
  std::vector<Diagnostic> other = right;
  other[0].primary.module = 1;
  EXPECT_FALSE(decode(other));
  other = right;
  other[0].primary.bytes.end = static_cast<uint32_t>(wrong.size() + 1);
  EXPECT_FALSE(decode(other));
  other = right;
  other[0].labels.push_back({.where = {.module = 0, .bytes = {.begin = 9, .end = 8}}});
  EXPECT_FALSE(decode(other));
}

TEST(ReadSource, LanguageThatNobodyReads_IsRefused) {
  for (const char* text : {"", "rpl", "rpl p.txt", "wgsl p.rpl", "p.rpl"}) {
    EXPECT_FALSE(ReadSource(text, InputOf({}, Good())).ok()) << text;
  }
}

TEST(ReadSource, InputWithoutLimits_IsRefused) {
  const Bytes empty = InputOf({}, "");
  EXPECT_TRUE(ReadSource("rpl p.rpl", empty).ok());
  for (size_t size = 0; size < empty.size(); ++size) {
    EXPECT_FALSE(ReadSource("rpl p.rpl", ByteView(empty).first(size)).ok()) << size;
  }
}

TEST(ReadSource, LimitsOfTheInput_AreThoseOfTheFrontEnd) {
  LanguageLimits limits;
  limits.source_bytes = 64;
  const Bytes bytes = *ReadSource("rpl p.rpl", InputOf(limits, Good()));
  const Diagnosed<ir::Module> read = *DecodeReading(ir::Language::kRpl, bytes, Good().size());
  EXPECT_FALSE(read.value.has_value());
  EXPECT_EQ(
      read.diagnostics,
      driver::ParseSource(ir::Language::kRpl, SourceFile("p.rpl", Good()), 0, limits).diagnostics);
}

}  // namespace
}  // namespace kiln::worker
