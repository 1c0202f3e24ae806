// SPDX-License-Identifier: MIT
// Lists of defines that leave the same tokens at the same places have one id, and nothing else has.
#include "compiler/front/hlsl/module/stream_id.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "compiler/front/hlsl/module/front.h"
#include "compiler/front/hlsl/preprocess/preprocess.h"

namespace kiln::hlsl {
namespace {

Hash128 IdOf(const std::string& text, const Settings& settings = {},
             const std::map<std::string, std::string>& files = {}) {
  SourceSet set;
  for (const auto& [path, content] : files) {
    set.Add({path, content});
  }
  return StreamIdOf(Preprocess(SourceFile("root.hlsl", text), set, settings, 0).stream);
}

Settings Lights(const std::string& value) {
  return {.macros = {{.name = "LIGHTS", .value = value}}};
}

TEST(StreamId, EqualTokens_AreOneStream) {
  const std::string text = "#if LIGHTS > 2\nfloat many;\n#endif\nfloat x;\n";
  EXPECT_EQ(IdOf(text, Lights("0")), IdOf(text, Lights("1")));
  EXPECT_EQ(IdOf(text, Lights("3")), IdOf(text, Lights("4")));
  EXPECT_NE(IdOf(text, Lights("0")), IdOf(text, Lights("4")));
  // Another number of tokens in the list itself makes no difference.
  EXPECT_EQ(IdOf(text, Lights("0")), IdOf(text, {.macros = {{.name = "LIGHTS", .value = {}}}}));
  EXPECT_EQ(IdOf("float x;", Lights("0")), IdOf("float x;"));
}

TEST(StreamId, WhateverDiffers_IsAnotherStream) {
  const Hash128 usual = IdOf("float x; float y;");
  EXPECT_EQ(IdOf("float x; float y;"), usual);
  EXPECT_NE(IdOf("float x; float z;"), usual);
  EXPECT_NE(IdOf("float x;  float y;"), usual);  // places of messages
  EXPECT_NE(IdOf("float x;\nfloat y;"), usual);
  EXPECT_NE(IdOf("int x; float y;"), usual);
  EXPECT_NE(IdOf("float x; float x;"), usual);
  const std::string used = "int a = LIGHTS;";
  EXPECT_NE(IdOf(used, Lights("0")), IdOf(used, Lights("1")));
  EXPECT_NE(IdOf("#pragma pack_matrix(row_major)\nfloat x;"),
            IdOf("#pragma pack_matrix(column_major)\nfloat x;"));
  EXPECT_NE(IdOf("#line 7\nfloat x;"), IdOf("#line 8\nfloat x;"));
}

TEST(StreamId, WhereItCameFrom_IsPartOfIt) {
  const std::string include = "#include \"a.hlsli\"\n";
  EXPECT_EQ(IdOf(include, {}, {{"a.hlsli", "float x;"}}),
            IdOf(include, {}, {{"a.hlsli", "float x;"}}));
  EXPECT_NE(IdOf(include, {}, {{"a.hlsli", "float x;"}}),
            IdOf(include, {}, {{"a.hlsli", "float x; "}}));
  // The same token at the same place through other macros has other labels.
  EXPECT_NE(IdOf("#define A 1\n#define B A\nint x = B;"),
            IdOf("#define A 1\n#define B 1\nint x = B;"));
}

TEST(StreamId, KnownStream_IsNotParsedAgain) {
  const SourceFile root("root.hlsl", "#if LIGHTS > 2\nfloat many;\n#endif\nfloat x;\n");
  const Hash128 made_by{};
  std::map<Hash128, bool> known;
  int asked = 0;
  const auto is_known = [&](const Hash128& stream) {
    ++asked;
    return known.contains(stream);
  };
  const ParsedModule first = Parse(root, {}, Lights("0"), made_by, 0, {}, is_known);
  ASSERT_TRUE(first.module.ok() && first.stream.has_value() && !first.is_known);
  known[*first.stream] = true;
  const ParsedModule second = Parse(root, {}, Lights("1"), made_by, 0, {}, is_known);
  EXPECT_TRUE(second.is_known);
  EXPECT_FALSE(second.module.ok());
  EXPECT_EQ(second.probes.size(), 1u);
  EXPECT_FALSE(Parse(root, {}, Lights("3"), made_by, 0, {}, is_known).is_known);
  EXPECT_EQ(asked, 3);
}

TEST(StreamId, WhatThePreprocessorSays_IsSaidForEachList) {
  const SourceFile root("root.hlsl", "#warning look\nfloat x;\n");
  const ParsedModule parsed = Parse(root, {}, {}, {}, 0, {}, [](const Hash128&) { return true; });
  EXPECT_FALSE(parsed.is_known);
  EXPECT_EQ(parsed.module.diagnostics.size(), 1u);
}

}  // namespace
}  // namespace kiln::hlsl
