// SPDX-License-Identifier: MIT
#include "client/lsp/documents/documents.h"

#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "client/lsp/documents/languages.h"
#include "client/lsp/documents/uri.h"
#include "client/lsp/documents/workspace.h"
#include "compiler/base/test_directory.h"

namespace kiln::lsp {
namespace {

struct UriRow {
  const char* uri;
  const char* path;  // null: none
};
constexpr UriRow kUris[] = {
    {"file:///a/b.rpl", "/a/b.rpl"},
    {"file://localhost/a/b.rpl", "/a/b.rpl"},
    {"file:///a%20b/%C3%A4.rpl", "/a b/\xc3\xa4.rpl"},
    {"file:///a/../b/./c.rpl", "/b/c.rpl"},
    {"file:///a%2", nullptr},
    {"file:///a%zz", nullptr},
    {"file:///a%00b", nullptr},
    {"file://host/a", nullptr},
    {"file://", nullptr},
    {"untitled:1", nullptr},
    {"", nullptr},
};

TEST(PathOf, EveryRow_IsItsPathOrNone) {
  for (const UriRow& row : kUris) {
    const std::optional<std::string> path = PathOf(row.uri);
    EXPECT_EQ(path.value_or("none"), row.path == nullptr ? "none" : row.path) << row.uri;
  }
  EXPECT_EQ(PathOf(UriOf("/a b/\xc3\xa4#?%.rpl")), "/a b/\xc3\xa4#?%.rpl");
}

TEST(LanguageOf, Names_AreThoseOfTheTable) {
  EXPECT_EQ(LanguageOf("/a/b.rpl"), DocumentLanguage::kRpl);
  EXPECT_EQ(LanguageOf("/a/kiln.toml"), DocumentLanguage::kManifest);
  EXPECT_EQ(LanguageOf("kiln.toml"), DocumentLanguage::kManifest);
  EXPECT_EQ(LanguageOf("/a/b.hlsl"), DocumentLanguage::kHlsl);
  EXPECT_EQ(LanguageOf("/a/b.hlsli"), DocumentLanguage::kHlslInclude);
  EXPECT_EQ(LanguageOf("/a/b.wgsl"), DocumentLanguage::kWgsl);
  EXPECT_TRUE(IsTypedRoot("b.hlsl") && IsTypedRoot("b.wgsl") && IsTyped("b.hlsli"));
  EXPECT_FALSE(IsTypedRoot("b.hlsli") || IsTyped("b.rpl") || IsTyped("kiln.toml"));
  EXPECT_FALSE(LanguageOf("/a/notkiln.toml").has_value());
  EXPECT_FALSE(LanguageOf("/a/b.glsl").has_value());
}

Json OpenParams(const std::string& text) {
  return {{"textDocument", {{"uri", "file:///a.rpl"}, {"version", 1}, {"text", text}}}};
}
Json ChangeParams(int64_t version, Json changes) {
  return {{"textDocument", {{"uri", "file:///a.rpl"}, {"version", version}}},
          {"contentChanges", std::move(changes)}};
}
Json RangeJson(uint32_t line, uint32_t begin, uint32_t end_line, uint32_t end) {
  return {{"start", {{"line", line}, {"character", begin}}},
          {"end", {{"line", end_line}, {"character", end}}}};
}

TEST(Documents, WrongEdits_LoseTheDocumentUntilItIsSentWhole) {
  const Json wrong[] = {
      {{{"range", RangeJson(7, 0, 7, 0)}, {"text", "x"}}},
      {{{"range", RangeJson(0, 2, 0, 1)}, {"text", "x"}}},
      {{{"range", 7}, {"text", "x"}}},
      {{{"range", RangeJson(0, 0, 0, 0)}}},
      {{{"text", 7}}},
      Json::object(),
  };
  for (const Json& changes : wrong) {
    Documents documents;
    ASSERT_FALSE(documents.Open(OpenParams("abc\n")).has_value());
    EXPECT_TRUE(documents.Change(ChangeParams(2, changes), Encoding::kUtf16).has_value());
    EXPECT_EQ(documents.Find("file:///a.rpl"), nullptr) << changes;
    EXPECT_TRUE(documents.IsLost("file:///a.rpl"));
    EXPECT_TRUE(documents
                    .Change(ChangeParams(3, {{{"range", RangeJson(0, 0, 0, 0)}, {"text", "x"}}}),
                            Encoding::kUtf16)
                    .has_value());
    EXPECT_FALSE(
        documents.Change(ChangeParams(4, {{{"text", "new"}}}), Encoding::kUtf16).has_value());
    EXPECT_EQ(documents.Find("file:///a.rpl")->text(), "new");
  }
}

TEST(Documents, OlderVersion_IsRefused) {
  Documents documents;
  ASSERT_FALSE(documents.Open(OpenParams("abc")).has_value());
  EXPECT_TRUE(documents.Change(ChangeParams(1, {{{"text", "x"}}}), Encoding::kUtf16).has_value());
  EXPECT_EQ(documents.Find("file:///a.rpl")->text(), "abc");
}

TEST(Documents, Limits_AreExact) {
  Documents documents;
  EXPECT_FALSE(documents.Open(OpenParams(std::string(TextDocument::kMaxText, 'x'))).has_value());
  EXPECT_TRUE(documents.Open(OpenParams(std::string(TextDocument::kMaxText + 1, 'x'))).has_value());
  EXPECT_TRUE(documents.IsLost("file:///a.rpl"));
  EXPECT_FALSE(documents.Open(OpenParams("x")).has_value());
  Json changes = Json::array();
  for (int i = 0; i < 3; ++i) {
    changes.push_back({{"text", std::string(TextDocument::kMaxText, 'y')}});
  }
  EXPECT_FALSE(documents.Change(ChangeParams(2, changes), Encoding::kUtf16).has_value());
  Json many = Json::array();
  for (int i = 0; i < 1000; ++i) {
    many.push_back({{"range", RangeJson(0, 0, 0, 1)}, {"text", "z"}});
  }
  EXPECT_TRUE(documents.Change(ChangeParams(3, many), Encoding::kUtf16).has_value());
}

// A random edit of a text: where and what, in units of the encoding.
class RandomEdits {
 public:
  explicit RandomEdits(uint32_t seed) : random_(seed) {}

  uint32_t Below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }

  std::string Text() {
    static const char* const kPieces[] = {
        "a", "\n", "\r\n", "\r", "// ", " ", "\xc3\xa4", "\xf0\x9f\x98\x80", "f4", ";\n"};
    std::string text;
    for (uint32_t i = Below(6); i > 0; --i) {
      text += kPieces[Below(std::size(kPieces))];
    }
    return text;
  }

 private:
  std::mt19937 random_;
};

// Incremental edits and a whole text come to the same, in both encodings.
// One file more than is kept costs the one that nobody has asked for since, and no other.
TEST(Documents, OneFileTooMany_ForgetsTheOldestAlone) {
  const TestDirectory directory;
  const auto path = [&](size_t i) {
    return (directory.path() / fmt::format("{}.rpl", i)).string();
  };
  for (size_t i = 0; i <= Documents::kMaxKeptFiles; ++i) {
    std::ofstream(path(i)) << i;
  }
  Documents documents;
  std::vector<std::shared_ptr<const SourceFile>> files;
  for (size_t i = 0; i < Documents::kMaxKeptFiles; ++i) {
    files.push_back(documents.FileAt(path(i)));
    ASSERT_NE(files.back(), nullptr);
  }
  EXPECT_EQ(documents.FileAt(path(0)), files[0]);
  ASSERT_NE(documents.FileAt(path(Documents::kMaxKeptFiles)), nullptr);
  for (const size_t i : {size_t{0}, size_t{2}, Documents::kMaxKeptFiles - 1}) {
    EXPECT_EQ(documents.FileAt(path(i)), files[i]) << i;
  }
  EXPECT_NE(documents.FileAt(path(1)), files[1]) << "the oldest";
}

// A request costs what it asks for, however many programs have its file.
TEST(Workspace, ProgramsOfAFile_AreSharedAndNotCopied) {
  const TestDirectory directory;
  std::string manifest = "[project]\nmanifest = 1\nname = \"many\"\n";
  constexpr size_t kPrograms = 300;
  for (size_t i = 0; i < kPrograms; ++i) {
    manifest += fmt::format(
        "[[program]]\nname = \"p{}\"\nsources = [\"a.rpl\"]\nentry_points = {{vertex = \"v\"}}\n",
        i);
  }
  std::ofstream(directory.path() / "kiln.toml") << manifest;
  const std::string path = (directory.path() / "a.rpl").string();
  std::ofstream(path) << "void v (void) { }\n";
  Documents documents;
  Workspace workspace(documents);
  const std::vector<ProgramSpecPtr> programs = workspace.ProgramsOf(path);
  ASSERT_EQ(programs.size(), kPrograms);
  EXPECT_EQ(programs.back()->name, fmt::format("p{}", kPrograms - 1));
  EXPECT_EQ(workspace.ProgramsOf(path), programs) << "the same objects";
}

TEST(Documents, DocumentsThatAreNotTaken_AreRememberedUpToABound) {
  Documents documents;
  const auto open = [&](size_t i) {
    const std::string uri = fmt::format("file:///{}.rpl", i);
    Json params;
    params["textDocument"] = {{"uri", uri}, {"version", 1}, {"text", "x"}};
    return std::pair(uri, documents.Open(params));
  };
  size_t lost = 0, count = Documents::kMaxOpen + Documents::kMaxLost + 10;
  for (size_t i = 0; i < count; ++i) {
    const auto [uri, error] = open(i);
    EXPECT_EQ(error.has_value(), i >= Documents::kMaxOpen) << i;
    lost += documents.IsLost(uri) ? 1 : 0;
  }
  EXPECT_EQ(lost, Documents::kMaxLost);
}

TEST(Documents, RandomEdits_AreThoseOfTheWholeText) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const Encoding encoding = seed % 2 == 0 ? Encoding::kUtf16 : Encoding::kUtf8;
    RandomEdits random(seed);
    Documents documents;
    std::string expected = "first\nsecond \xc3\xa4\n";
    ASSERT_FALSE(documents.Open(OpenParams(expected)).has_value());
    for (int64_t version = 2; version < 60; ++version) {
      Json changes = Json::array();
      for (uint32_t i = 1 + random.Below(3); i > 0; --i) {
        const LineTable lines(expected);
        const auto place = [&] {
          const uint32_t line = random.Below(lines.line_count());
          return Position{.line = line, .character = random.Below(12)};
        };
        Range range{.start = place(), .end = place()};
        if (range.end < range.start) {
          std::swap(range.start, range.end);
        }
        const uint32_t begin = *lines.OffsetOf(expected, range.start, encoding);
        const uint32_t end = *lines.OffsetOf(expected, range.end, encoding);
        const std::string text = random.Text();
        expected.replace(begin, end - begin, text);
        changes.push_back({{"range", JsonOf(range)}, {"text", text}});
      }
      ASSERT_FALSE(documents.Change(ChangeParams(version, changes), encoding).has_value());
      ASSERT_EQ(documents.Find("file:///a.rpl")->text(), expected) << seed << " " << version;
    }
  }
}

}  // namespace
}  // namespace kiln::lsp
