// SPDX-License-Identifier: MIT
// Places in the row of all files, spans across macros, and lines that #line renames.
#include "compiler/front/hlsl/token_stream.h"

#include <string>

#include <gtest/gtest.h>

#include "compiler/front/hlsl/preprocess/test_run.h"

namespace kiln::hlsl {
namespace {

// The text that `Where` covers, from the first token spelled so to the last.
std::string Covered(const TestRun& run, std::string_view first, std::string_view last) {
  const TokenStream& stream = run.stream();
  uint32_t a = 0, b = 0;
  bool found = false;
  for (const Token& token : stream.tokens) {
    a = !found && stream.Text(token) == first ? token.origin : a;
    found = found || stream.Text(token) == first;
    b = stream.Text(token) == last ? token.origin : b;
  }
  const Span span = stream.Where(a, b).bytes;
  const ModuleFile& file = stream.files[stream.FileAt(span.begin)];
  return run.set().Find(file.path)->text.substr(span.begin - file.first, span.size());
}

TEST(TokenStream, Spans_CoverWhatWasWritten) {
  const TestRun run(
      "#define F(x) (x + one)\n#define H(x) [x]\n#define G H(two) three\na + b * c;\nF(arg) "
      "end\nG");
  EXPECT_EQ(Covered(run, "a", "c"), "a + b * c");
  EXPECT_EQ(Covered(run, "(", "one"), "(x + one") << "in one expansion: where it is defined";
  EXPECT_EQ(Covered(run, "(", "arg"), "F(arg") << "an argument and the body: the call";
  EXPECT_EQ(Covered(run, "arg", "end"), "arg) end");
  EXPECT_EQ(Covered(run, "two", "three"), "two) three");
  EXPECT_EQ(Covered(run, "c", "arg"), "c;\nF(arg");
}

TEST(TokenStream, Files_FollowEachOtherWithTheirEnds) {
  const TestFiles files{
      {"root.hlsl", "#include \"a.h\"\n#include \"b.h\"\n"}, {"a.h", "abc"}, {"b.h", ""}};
  const TestRun run(files);
  const std::vector<ModuleFile>& rows = run.stream().files;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].first, 0u);
  EXPECT_EQ(rows[1].first, rows[0].size + 1);
  EXPECT_EQ(rows[2].first, rows[1].first + 4);
  EXPECT_EQ(run.stream().FileAt(0), 0u);
  EXPECT_EQ(run.stream().FileAt(rows[0].size), 0u) << "the end of a file is its own";
  EXPECT_EQ(run.stream().FileAt(rows[1].first), 1u);
  EXPECT_EQ(run.stream().FileAt(rows[2].first), 2u);
  EXPECT_EQ(run.Place(run.stream().origins.WrittenAt(rows[1].included)), "root.hlsl:1:10");
}

TEST(TokenStream, Ends_AreWhereTheRootEnds) {
  const TestRun run("a\nb");
  EXPECT_EQ(run.Place(run.stream().Where(run.stream().tokens.back().origin).bytes),
            "root.hlsl:2:2");
}

TEST(TokenStream, LineMarks_AscendThroughAllFiles) {
  const TestFiles files{
      {"root.hlsl", "#line 10\n#include \"a.h\"\n#line 20 \"x.fx\"\n#include \"a.h\"\ny"},
      {"a.h", "#line 5 \"gen\"\nz"}};
  const TestRun run(files);
  std::string marks;
  for (const LineMark& mark : run.stream().line_marks) {
    marks +=
        run.Place({mark.begin, mark.begin}) + " is " + std::to_string(mark.line) + " of " +
        (mark.path == kNoSymbol ? "itself" : std::string(run.stream().symbols.Text(mark.path))) +
        "\n";
  }
  EXPECT_EQ(marks,
            "root.hlsl:2:1 is 10 of itself\nroot.hlsl:4:1 is 20 of x.fx\na.h:2:1 is 5 of gen\n");
}

}  // namespace
}  // namespace kiln::hlsl
