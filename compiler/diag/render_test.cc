// SPDX-License-Identifier: MIT
#include "compiler/diag/render.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/base/printable.h"
#include "compiler/diag/cells.h"
#include "compiler/diag/render_json.h"

namespace kiln {
namespace {

// Sources of one program; places are found by their text.
class Scene {
 public:
  Scene& Add(std::string path, std::string text) {
    modules_.push_back(&set_.Add({std::move(path), std::move(text)}));
    return *this;
  }

  Location Find(std::string_view text, uint32_t module = 0) const {
    const size_t begin = modules_[module]->text.find(text);
    EXPECT_NE(begin, std::string::npos) << text;
    return {.module = module,
            .bytes = {static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + text.size())}};
  }

  PlacedDiagnostic Placed(const Diagnostic& diagnostic) const {
    return Place(diagnostic, modules_);
  }
  std::string Text(const Diagnostic& diagnostic, const TextStyle& style = {}) const {
    return RenderText(Placed(diagnostic), set_, style);
  }
  const SourceSet& set() const { return set_; }

 private:
  SourceSet set_;
  std::vector<const SourceFile*> modules_;
};

Diagnostic Operator(const Location& where) {
  return Make(Code::kRpl6022, where).With("op", "+").With("left", "f3").With("right", "f4");
}

std::string Lines(int count, std::string_view first) {
  std::string text(first);
  for (int i = 0; i < count; ++i) {
    text += "// " + std::to_string(i) + "\n";
  }
  return text;
}

// Names of a module that was stored and damaged are any bytes; a reply has UTF-8 only.
TEST(Place, FixThatIsNoUtf8_IsLeftOut) {
  Scene scene;
  scene.Add("a.rpl", "u f4 emission;\n");
  const auto placed = [&](std::string_view text) {
    return scene.Placed(Make(Code::kRpl1163, scene.Find("f4")).Replace(scene.Find("f4"), text));
  };
  EXPECT_EQ(placed("f3").fix->replacement, "f3");
  const PlacedDiagnostic damaged = placed("f\xff");
  EXPECT_FALSE(damaged.fix.has_value());
  ASSERT_EQ(damaged.notes.size(), 1u);
  EXPECT_NE(damaged.notes[0].find("f\\xff"), std::string::npos) << damaged.notes[0];
}

TEST(RenderText, LabelsOnOneLine_ShareIt) {
  Scene scene;
  scene.Add("materials/rock.rpl",
            Lines(80, "u f4 emission;\n") +
                "    f3 base = albedo.xyz;\n    output.color = base + emission;\n");
  Location right = scene.Find("base + emission");
  right.bytes.begin += 7;
  Location left = scene.Find("base + emission");
  left.bytes.end = left.bytes.begin + 4;
  PlacedDiagnostic placed = scene.Placed(
      Operator(left)
          .Label(LabelKind::kType, left, {{"type", "f3"}})
          .Label(LabelKind::kType, right, {{"type", "f4"}})
          .Label(LabelKind::kDeclaredHere, scene.Find("emission"), {{"name", "emission"}})
          .Note(NoteKind::kAccepted, {{"accepted", "equal vector types"}}));
  placed.variants = {.failing = "12",
                     .total = "64",
                     .condition = "fog && quality != \"low\"",
                     .example = "fog=true quality=high"};
  EXPECT_EQ(RenderText(placed, scene.set(), {}), R"(error[RPL6022]: operator '+' on 'f3' and 'f4'
  --> materials/rock.rpl:83:20
   |
82 |     f3 base = albedo.xyz;
83 |     output.color = base + emission;
   |                    ^^^^   ^^^^^^^^ 'f4'
   |                    |
   |                    'f3'
   = note: 'emission' is declared here: materials/rock.rpl:1:6
   = help: accepted: equal vector types
   = in 12 of 64 variants, when fog && quality != "low"; e.g. fog=true quality=high
)");
}

TEST(RenderText, FirstLine_HasNoContext) {
  Scene scene;
  scene.Add("a.rpl", "x @ y\n");
  EXPECT_EQ(scene.Text(Make(Code::kRpl1002, scene.Find("@")).With("text", "@")),
            R"(error[RPL1002]: unexpected character '@'
 --> a.rpl:1:3
  |
1 | x @ y
  |   ^
)");
}

TEST(RenderText, EndOfFile_IsUnderlined) {
  Scene scene;
  scene.Add("a.rpl", "struct a {");
  const Location end{.module = 0, .bytes = {.begin = 10, .end = 10}};
  EXPECT_EQ(scene.Text(Make(Code::kRpl1112, end).With("what", "struct 'a'")),
            R"(error[RPL1112]: file ends inside struct 'a'
 --> a.rpl:1:11
  |
1 | struct a {
  |           ^
)");
}

TEST(RenderText, TabsAndWideCharacters_AreMeasured) {
  Scene scene;
  scene.Add("a.rpl", "\t\"\xe6\xbc\xa2\" x\x1b @");
  EXPECT_EQ(scene.Text(Make(Code::kRpl1002, scene.Find("@")).With("text", "@")),
            "error[RPL1002]: unexpected character '@'\n"
            " --> a.rpl:1:9\n"
            "  |\n"
            "1 |     \"\xe6\xbc\xa2\" x\\x1b @\n"
            "  |                ^\n");
}

TEST(RenderText, LongSpan_ShowsFirstAndLastTwoLines) {
  Scene scene;
  std::string text = "head\nfn (\n";
  for (int i = 0; i < 8; ++i) {
    text += "  body " + std::to_string(i) + "\n";
  }
  scene.Add("a.rpl", text + ")\n");
  Location where = scene.Find("fn (");
  where.bytes.end = scene.Find(")").bytes.end;
  EXPECT_EQ(scene.Text(Make(Code::kRpl1163, where)), R"(error[RPL1163]: empty statement
  --> a.rpl:2:1
   |
 1 | head
 2 | fn (
   | ^^^^
 3 |   body 0
   | ^^^^^^^^
...
10 |   body 7
   | ^^^^^^^^
11 | )
   | ^
)");
}

TEST(RenderText, LabelNearby_IsShownAfterAGap) {
  Scene scene;
  scene.Add("a.rpl", "f3 a;\n\n\nf4 a;\n");
  EXPECT_EQ(scene.Text(Make(Code::kRpl4021, scene.Find("f4 a"))
                           .With("name", "a")
                           .With("owner", "o")
                           .Label(LabelKind::kFirstHere, scene.Find("f3 a"))),
            R"(error[RPL4021]: 'a' is declared twice in 'o'
 --> a.rpl:4:1
  |
1 | f3 a;
  | ^^^^ the first one is here
...
3 |
4 | f4 a;
  | ^^^^
)");
}

TEST(RenderText, LongLine_IsShownAroundTheMark) {
  const std::pair<size_t, std::string_view> lines[] = {{500, "a"},        {5'000, "a"},
                                                       {100'000, "a"},    {1'365, "\u00e9"},
                                                       {2'049, "\u00e9"}, {50'000, "\u6c34"}};
  for (const auto& [count, letter] : lines) {
    std::string before;
    for (size_t i = 0; i < count; ++i) {
      before += letter;
    }
    Scene scene;
    scene.Add("a.rpl", before + " @ " + std::string(count, 'b'));
    const std::string text =
        scene.Text(Make(Code::kRpl1002, scene.Find("@")).With("text", "@"), {.width = 60});
    const size_t end = text.find('\n', text.find(" @ "));
    EXPECT_LT(text.substr(text.find("1 | "), end - text.find("1 | ")).size(), 61U * letter.size());
    EXPECT_THAT(text, testing::HasSubstr(std::string(letter) + " @ bbb")) << count;
    EXPECT_EQ(text.find("\\x"), std::string::npos) << text;
    // as many columns before the sign as before the mark below it
    const size_t line = text.find("1 | ") + 4;
    const size_t marks = text.find("  | ", line) + 4;
    const uint32_t width = CellsOf(letter).front().width;
    EXPECT_EQ((text.find('@', line) - line - 1) / letter.size() * width + 1,
              text.find('^', marks) - marks)
        << text;
  }
}

TEST(RenderText, LongLine_KeepsLabelsFarFromTheMark) {
  Scene scene;
  scene.Add("a.rpl", "first " + std::string(100'000, ' ') + "second");
  const std::string text = scene.Text(
      Operator(scene.Find("first")).Label(LabelKind::kType, scene.Find("second"), {{"type", "f4"}}),
      {.width = 60});
  EXPECT_THAT(text, testing::HasSubstr("^^^^^ "));
  EXPECT_THAT(text, testing::HasSubstr("'f4'"));
}

TEST(RenderText, OtherModuleOrNoSource_KeepsTheLocation) {
  Scene scene;
  scene.Add("a.rpl", "global flag fog;\n").Add("b.rpl", "global flag fog;\n");
  const Diagnostic clash =
      Make(Code::kRpl2002, scene.Find("fog", 1))
          .With("name", "fog")
          .With("module", "b.rpl")
          .With("other", "a.rpl")
          .Label(LabelKind::kDeclaredHere, scene.Find("fog"), {{"name", "fog"}});
  EXPECT_THAT(scene.Text(clash),
              testing::HasSubstr("= note: 'fog' is declared here: a.rpl:1:13\n"));
  EXPECT_EQ(RenderText(scene.Placed(clash), SourceSet(), {}),
            "error[RPL2002]: option 'fog' of module 'b.rpl' is already declared by module 'a.rpl'\n"
            " --> b.rpl:1:13\n"
            "  = note: 'fog' is declared here: a.rpl:1:13\n");
}

TEST(RenderText, NoPlace_IsOneLine) {
  EXPECT_EQ(Scene().Text(Make(Code::kRpl2003, {}).With("name", "fog")),
            "error[RPL2003]: no option is named 'fog'\n");
}

TEST(RenderText, Colour_MarksSeverityAndEndsEachTime) {
  Scene scene;
  scene.Add("a.rpl", "@");
  const std::string text =
      scene.Text(Make(Code::kRpl1002, scene.Find("@")).With("text", "@"), {.colour = Colour::kOn});
  EXPECT_THAT(text, testing::HasSubstr("\x1b[1;31merror[RPL1002]\x1b[0m"));
  EXPECT_THAT(text, testing::HasSubstr("\x1b[1;31m ^\x1b[0m"));
}

TEST(RenderText, ControlCharactersOfTheSource_NeverReachTheTerminal) {
  Scene scene;
  scene.Add("a.rpl", "\x1b[2J@\xff");
  const std::string text =
      scene.Text(Make(Code::kRpl1002, scene.Find("\x1b")).With("text", "\x1b"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\xff'), std::string::npos);
  EXPECT_THAT(text, testing::HasSubstr("'\\x1b'"));
}

TEST(RenderShort, OneLine_MatchesEditors) {
  Scene scene;
  scene.Add("a.rpl", "x\n  @");
  EXPECT_EQ(RenderShort(scene.Placed(Make(Code::kRpl1002, scene.Find("@")).With("text", "@"))),
            "a.rpl:2:3: error: unexpected character '@' [RPL1002]\n");
  EXPECT_EQ(RenderShort(scene.Placed(Make(Code::kRpl2001, {}).With("module", "a"))),
            "warning: module 'a' is listed twice, the second mention is ignored [RPL2001]\n");
}

TEST(RenderReport, MoreThanTheLimit_AreCounted) {
  const std::vector<PlacedDiagnostic> three(
      3, Scene().Placed(Make(Code::kRpl2003, {}).With("name", "fog")));
  EXPECT_EQ(RenderReport(three, SourceSet(), {}, 2),
            "error[RPL2003]: no option is named 'fog'\n\n"
            "error[RPL2003]: no option is named 'fog'\n\n"
            "and 1 more\n");
  EXPECT_EQ(RenderReport({}, SourceSet(), {}), "");
}

TEST(SortForReading, ErrorsFirst_ThenPathAndPosition) {
  Scene scene;
  scene.Add("b.rpl", "1 2").Add("a.rpl", "1 2");
  std::vector<PlacedDiagnostic> placed = {
      scene.Placed(Make(Code::kRpl2001, scene.Find("1", 1)).With("module", "w")),
      scene.Placed(Make(Code::kRpl1163, scene.Find("1", 0))),
      scene.Placed(Make(Code::kRpl1163, scene.Find("2", 1))),
      scene.Placed(Make(Code::kRpl1163, scene.Find("1", 1))),
  };
  SortForReading(placed);
  std::string order;
  for (const PlacedDiagnostic& diagnostic : placed) {
    order += RenderShort(diagnostic).substr(0, 16) + "|";
  }
  EXPECT_EQ(order, "a.rpl:1:1: error|a.rpl:1:3: error|b.rpl:1:1: error|a.rpl:1:1: warni|");
}

TEST(RenderJson, Members_AreInTheOrderOfTheSpecification) {
  Scene scene;
  scene.Add("a.rpl", "x\n\xc3\xbc @@");
  const Diagnostic diagnostic = Make(Code::kRpl1002, scene.Find("@@"))
                                    .With("text", "@\"")
                                    .Label(LabelKind::kFirstHere, scene.Find("x"))
                                    .Note(NoteKind::kLimit, {{"limit", 4}});
  EXPECT_EQ(RenderJson(scene.Placed(diagnostic), "rock/forward"),
            R"({"program":"rock/forward","severity":"error","code":"RPL1002",)"
            R"("message":"unexpected character '@\"'","path":"a.rpl","line":2,"column":3,)"
            R"("end_line":2,"end_column":5,"labels":[{"path":"a.rpl","line":1,"column":1,)"
            R"("end_line":1,"end_column":2,"text":"the first one is here"}],)"
            R"("notes":["note: the limit is 4"],"fix":null,"variants":null,)"
            R"("name":"unexpected-character"})");
}

TEST(RenderJson, Fix_IsAnEditWithItsConfidence) {
  Scene scene;
  scene.Add("a.rpl", "shad");
  const Location where = scene.Find("shad");
  const nlohmann::json sure = nlohmann::json::parse(RenderJson(
      scene.Placed(Make(Code::kRpl6001, where).With("name", "shad").Replace(where, "shade")), ""));
  EXPECT_EQ(sure["fix"].dump(),
            R"({"applicability":"machine","column":1,"end_column":5,"end_line":1,"line":1,)"
            R"("path":"a.rpl","replacement":"shade"})");
  EXPECT_EQ(sure["notes"][0], "help: write 'shade'");
  const nlohmann::json guess = nlohmann::json::parse(
      RenderJson(scene.Placed(Make(Code::kRpl6001, where)
                                  .With("name", "shad")
                                  .Replace(where, "shade", Confidence::kGuess)),
                 ""));
  EXPECT_EQ(guess["fix"]["applicability"], "maybe");
}

TEST(Place, FixOfBraces_KeepsTheArguments) {
  const struct {
    const char* source;
    const char* replacement;  // null: no fix
  } rows[] = {
      {"vec4 (a, g (1))", "f4 {a, g (1)}"},
      {"vec4(1.0)", "f4 {1.0}"},
      {"vec4 // (\n (1.0)", nullptr},
      {"vec4", nullptr},
  };
  for (const auto& row : rows) {
    Scene scene;
    scene.Add("a.rpl", row.source);
    Diagnostic found = Make(Code::kRpl5001, scene.Find("vec4")).With("name", "vec4");
    found.fix = Fix{.form = Fix::Form::kBraces, .where = scene.Find(row.source), .text = "f4"};
    const PlacedDiagnostic placed = scene.Placed(found);
    ASSERT_EQ(placed.fix.has_value(), row.replacement != nullptr) << row.source;
    if (placed.fix.has_value()) {
      EXPECT_EQ(placed.fix->replacement, row.replacement);
    }
  }
}

TEST(Place, CallOfThousandsOfBytes_IsNotRewritten) {
  Scene scene;
  const std::string call = "vec4 (" + std::string(1 << 20, 'a') + ")";
  scene.Add("a.rpl", call);
  Diagnostic found = Make(Code::kRpl5001, scene.Find("vec4")).With("name", "vec4");
  found.fix = Fix{.form = Fix::Form::kBraces, .where = scene.Find(call), .text = "f4"};
  EXPECT_FALSE(scene.Placed(found).fix.has_value());
}

TEST(RenderJsonArray, IllFormedText_IsStillJson) {
  const PlacedDiagnostic placed = Scene().Placed(Make(Code::kRpl1002, {}).With("text", "\xff"));
  const std::vector<PlacedDiagnostic> two(2, placed);
  const nlohmann::json parsed = nlohmann::json::parse(RenderJsonArray(two, ""));
  ASSERT_EQ(parsed.size(), 2u);
  EXPECT_EQ(parsed[0]["code"], "RPL1002");
  EXPECT_EQ(RenderJsonArray({}, ""), "[]");
}

TEST(Printable, Text_KeepsEverythingButControls) {
  EXPECT_EQ(Printable("gr\xc3\xbcn"), "gr\xc3\xbcn");
  EXPECT_EQ(Printable("a\nb\x7f"), "a\\x0ab\\x7f");
  EXPECT_EQ(Printable("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "right-to-left override";
}

}  // namespace
}  // namespace kiln
