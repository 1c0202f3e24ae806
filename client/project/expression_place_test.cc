// SPDX-License-Identifier: MIT
#include "client/project/expression_place.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln::project {
namespace {

// What stands in the file for the word "wet" of the first exclusion that is written like this.
std::string WrittenFor(const std::string& written) {
  const std::string text =
      "[project]\nmanifest = 1\n[[program]]\nname = \"p\"\nsources = [\"p.rpl\"]\n"
      "exclude = [ 'ä', " +
      written + "]\n";
  const Result<Manifest> manifest = ReadManifest(text, "kiln.toml");
  EXPECT_TRUE(manifest.ok()) << manifest.error().context;
  EXPECT_EQ(manifest->text, text);
  const ManifestExpression& expression = manifest->programs[0].exclude[1];
  const auto at = static_cast<uint32_t>(expression.text.find("wet"));
  const std::optional<Span> span = SpanInManifest(text, expression, {.begin = at, .end = at + 3});
  return span.has_value() ? std::string(TextOf(text, *span)) : "nowhere";
}

TEST(SpanInManifest, EveryWayToWriteAText_IsFound) {
  for (const char* written : {
           "'wet'",
           "'fog && wet'",
           "\"fog && wet\"",
           "\"kind == \\\"flat\\\" && wet\"",
           "\"kind == \\\"\\u00e4\\U0001F600\\\" && wet\"",
           "'kind == \"ä\" && wet'",
           "'''fog && wet'''",
           "'''\nfog\n&& wet'''",
           "\"\"\"fog && wet\"\"\"",
           "\"\"\"\nfog \\\n   && wet\"\"\"",
       }) {
    EXPECT_EQ(WrittenFor(written), "wet") << written;
  }
}

TEST(KeyInManifest, PlainAndQuotedKeys_AreFound) {
  const std::string text =
      "[project]\nmanifest = 1\n[[program]]\nname = \"p\"\nsources = [\"p.rpl\"]\n"
      "axes = { fog = \"*\", \"wet\" = \"*\" }\n";
  const Result<Manifest> manifest = ReadManifest(text, "kiln.toml");
  ASSERT_TRUE(manifest.ok()) << manifest.error().context;
  const auto written = [&](const char* name) {
    const std::optional<Span> span =
        KeyInManifest(text, manifest->programs[0].axes.at(name).key, name);
    return span.has_value() ? std::string(TextOf(text, *span)) : "nowhere";
  };
  EXPECT_EQ(written("fog"), "fog");
  EXPECT_EQ(written("wet"), "\"wet\"");
  EXPECT_EQ(KeyInManifest(text, {.line = 1, .column = 1}, "fog"), std::nullopt);
  EXPECT_EQ(KeyInManifest(text, {.line = 99, .column = 1}, "fog"), std::nullopt);
}

TEST(SpanInManifest, OtherFile_HasNoPlace) {
  const ManifestExpression far = {.text = "wet", .place = {.line = 9, .column = 2}};
  EXPECT_EQ(SpanInManifest("a = 1\n", far, {.begin = 0, .end = 3}), std::nullopt);
  const ManifestExpression here = {.text = "wet", .place = {.line = 1, .column = 2}};
  EXPECT_EQ(SpanInManifest("a = 1\n", here, {.begin = 0, .end = 3}), std::nullopt);
}

}  // namespace
}  // namespace kiln::project
