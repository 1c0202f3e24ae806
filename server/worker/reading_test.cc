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

// What RPL needs: a source and nothing else.
struct OfRpl {
  explicit OfRpl(const std::string& text) : source("p.rpl", text) {}
  operator ReadInputs() const { return {.source = source, .settings = settings, .files = {}}; }

  SourceFile source;
  hlsl::Settings settings;
};

bool IsRead(ByteView bytes, const std::string& text) {
  return DecodeReading(ir::Language::kRpl, bytes, OfRpl(text)).ok();
}

class Reading : public testing::TestWithParam<const char*> {};

TEST_P(Reading, OfASource_IsWhatTheFrontEndMadeHere) {
  const std::string text = Good() + GetParam();
  const Diagnosed<ir::Module> here = Here(text);
  const Result<Bytes> bytes =
      ReadSource(LanguageAndPath(ir::Language::kRpl, "p.rpl"), InputOf({}, OfRpl(text)));
  ASSERT_TRUE(bytes.ok());
  const Result<driver::ParsedSource> read = DecodeReading(ir::Language::kRpl, *bytes, OfRpl(text));
  ASSERT_TRUE(read.ok()) << read.error().context;
  EXPECT_EQ(read->module.diagnostics, here.diagnostics);
  ASSERT_EQ(read->module.value.has_value(), here.value.has_value());
  if (here.value.has_value()) {
    EXPECT_TRUE(std::ranges::equal(read->module.value->image(), here.value->image()));
    EXPECT_EQ(read->module.value->semantic_id(), here.value->semantic_id());
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
    const Bytes good = *ReadSource("rpl p.rpl", InputOf({}, OfRpl(text)));
    ASSERT_TRUE(IsRead(good, text));
    for (size_t size = 0; size < good.size(); size += size < 64 ? 1 : 7) {
      EXPECT_FALSE(IsRead(ByteView(good).first(size), text)) << size;
    }
    EXPECT_FALSE(IsRead(good, text.substr(0, 3))) << "places behind the end";
    std::mt19937 random(11);
    for (int i = 0; i < 3000; ++i) {
      Bytes bytes = good;
      for (uint32_t flips = 1 + random() % 3; flips != 0; --flips) {
        bytes[random() % bytes.size()] ^= static_cast<std::byte>(1u << random() % 8);
      }
      (void)IsRead(bytes, text);  // it may be right; never worse
    }
  }
}

TEST(HostileReading, DiagnosticOfAnotherModuleOrPlace_IsRefused) {
  const std::string wrong = Good() + "f1 half (in f1 x) { return x }\n";
  const std::vector<Diagnostic> right = Here(wrong).diagnostics;
  ASSERT_FALSE(right.empty());
  const auto decode = [&](const std::vector<Diagnostic>& diagnostics) {
    return IsRead(EncodeReading({.module = {.value = std::nullopt, .diagnostics = diagnostics},
                                 .files = {},
                                 .probes = {}}),
                  wrong);
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
  const auto end = static_cast<uint32_t>(wrong.size());
  const struct {
    Location where;
    bool taken;
  } fixes[] = {{{.module = 0, .bytes = {.begin = 0, .end = end}}, true},
               {{.module = 0, .bytes = {.begin = 0, .end = end + 1}}, false},
               {{.module = 1, .bytes = {.begin = 0, .end = 1}}, false}};
  for (const auto& row : fixes) {
    other = right;
    other[0].fix = Fix{.where = row.where, .text = "x"};
    EXPECT_EQ(decode(other), row.taken) << row.where.module << " " << row.where.bytes.end;
  }
}

// ---- A source that includes ---------------------------------------------------------------------

const std::string kIncluding =
    "#include \"lib.h\"\n#ifdef MORE\n#include \"more.h\"\n#endif\n"
    "float4 ps_main() : SV_Target { return LIB; }\n";

// Root, settings and files as one job; and what is read of it here.
struct OfHlsl {
  explicit OfHlsl(std::vector<SourceFile> included, std::string text = kIncluding)
      : source("a/p.hlsl", std::move(text)), files(std::move(included)) {
    for (const SourceFile& file : files) {
      views.push_back(&file);
    }
    settings.version = hlsl::Version::k2018;
    settings.defines.push_back({.name = "MORE", .value = "1"});
    settings.include_roots.push_back("roots");
  }
  operator ReadInputs() const { return {.source = source, .settings = settings, .files = views}; }

  driver::ParsedSource Here() const {
    driver::SourceInputs inputs{.language = {}, .files = {}, .hlsl = settings};
    for (const SourceFile& file : files) {
      inputs.files.Add(file);
    }
    return driver::ParseSource(ir::Language::kHlsl, source, inputs, 0);
  }
  Bytes Apart() const {
    return *ReadSource(LanguageAndPath(ir::Language::kHlsl, source.path), InputOf({}, *this));
  }
  bool Takes(const driver::ParsedSource& read) const {
    return DecodeReading(ir::Language::kHlsl, EncodeReading(read), *this).ok();
  }

  SourceFile source;
  std::vector<SourceFile> files;
  std::vector<const SourceFile*> views;
  hlsl::Settings settings;
};

TEST(Reading, OfASourceThatIncludes_IsWhatTheFrontEndMadeHere) {
  const SourceFile lib("a/lib.h", "#define LIB float4(1, 0, 0, 1)\n");
  const SourceFile more("roots/more.h", "static const float kMore = 1;\n");
  for (const std::vector<SourceFile>& files :
       {std::vector<SourceFile>(), {lib}, {lib, more}, {lib, {"roots/more.h", "float float;"}}}) {
    const OfHlsl job(files);
    const driver::ParsedSource here = job.Here();
    const Result<driver::ParsedSource> read = DecodeReading(ir::Language::kHlsl, job.Apart(), job);
    ASSERT_TRUE(read.ok()) << read.error().context;
    EXPECT_EQ(read->module.diagnostics, here.module.diagnostics);
    EXPECT_EQ(read->probes, here.probes);
    EXPECT_EQ(read->files, here.files);
    EXPECT_EQ(read->module.value.has_value(), here.module.value.has_value());
  }
}

TEST(HostileReading, OfFilesThatWereNotGiven_IsRefused) {
  const OfHlsl job(std::vector<SourceFile>{{"a/lib.h", "#define LIB float4(1, 0, 0, 1)\n"},
                                           {"roots/more.h", "static const float kMore = 1;\n"}});
  const driver::ParsedSource good = job.Here();
  ASSERT_TRUE(good.module.value.has_value());
  ASSERT_TRUE(job.Takes(good));
  const auto changed = [&](auto change) {
    driver::ParsedSource read = job.Here();
    change(read);
    return job.Takes(read);
  };
  EXPECT_FALSE(changed([](auto& read) { read.probes[0].digest.size += 1; }));
  EXPECT_FALSE(changed([](auto& read) { read.probes[0].present = false; }));
  EXPECT_FALSE(changed([](auto& read) { read.probes[0].path = "other.h"; }));
  EXPECT_FALSE(changed([](auto& read) { read.probes.push_back(read.probes[0]); }));
  EXPECT_FALSE(changed([](auto& read) { read.files->files[1].path = "other.h"; }));
  EXPECT_FALSE(changed([](auto& read) { read.files->files[1].first += 1; }));
  EXPECT_FALSE(changed([](auto& read) { read.files->files[0].path = "other.hlsl"; }));
  EXPECT_FALSE(changed([](auto& read) { read.files->files.pop_back(); }));
  EXPECT_FALSE(changed([](auto& read) { read.files.reset(); }));
}

TEST(HostileReading, OfASourceThatIncludes_NoByteOfItGetsPastTheChecks) {
  const OfHlsl job(std::vector<SourceFile>{{"a/lib.h", "#define LIB float4(1, 0, 0, 1)\n"}});
  const Bytes good = job.Apart();
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    Bytes bytes = good;
    bytes[random() % bytes.size()] ^= static_cast<std::byte>(1u << random() % 8);
    (void)DecodeReading(ir::Language::kHlsl, bytes, job);
  }
}

TEST(ReadSource, LanguageThatNobodyReads_IsRefused) {
  for (const char* text : {"", "rpl", "rpl p.txt", "wgsl p.rpl", "p.rpl"}) {
    EXPECT_FALSE(ReadSource(text, InputOf({}, OfRpl(Good()))).ok()) << text;
  }
}

TEST(ReadSource, InputWithoutLimits_IsRefused) {
  const Bytes empty = InputOf({}, OfRpl(""));
  EXPECT_TRUE(ReadSource("rpl p.rpl", empty).ok());
  for (size_t size = 0; size < empty.size(); ++size) {
    EXPECT_FALSE(ReadSource("rpl p.rpl", ByteView(empty).first(size)).ok()) << size;
  }
}

TEST(ReadSource, LimitsOfTheInput_AreThoseOfTheFrontEnd) {
  LanguageLimits limits;
  limits.source_bytes = 64;
  const Bytes bytes = *ReadSource("rpl p.rpl", InputOf(limits, OfRpl(Good())));
  const driver::ParsedSource read = *DecodeReading(ir::Language::kRpl, bytes, OfRpl(Good()));
  EXPECT_FALSE(read.module.value.has_value());
  EXPECT_EQ(
      read.module.diagnostics,
      driver::ParseSource(ir::Language::kRpl, SourceFile("p.rpl", Good()), 0, limits).diagnostics);
}

}  // namespace
}  // namespace kiln::worker
