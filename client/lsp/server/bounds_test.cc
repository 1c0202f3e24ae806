// SPDX-License-Identifier: MIT
// The bounds of a message: every request about a large text asks whether its time is over, and what
// programs keep while they are checked is bounded. Nothing here is timed: the clock moves when it
// is asked.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "client/lsp/diagnostics/checker.h"
#include "client/lsp/documents/uri.h"
#include "client/lsp/server/test_editor.h"
#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"

namespace kiln::lsp {
namespace {

// As much passes, and is worked, each time somebody looks.
class LookedAtClock final : public Clock {
 public:
  Duration Monotonic() override { return now_ += step; }
  Duration UnixTime() override { return now_; }
  Duration ThreadCpu() override { return now_; }

  Duration step = Duration::zero();

 private:
  Duration now_ = Duration::zero();
};

constexpr int kFunctions = 3000;

std::string Repeated(const char* function, const char* separator) {
  std::string text;
  for (int i = 0; i < kFunctions; ++i) {
    text += fmt::format(fmt::runtime(function), fmt::arg("i", i));
    text += separator;
  }
  return text;
}

struct LanguageRow {
  const char* uri;
  const char* function;
  uint32_t name;  // where the name of the first function is
};
constexpr LanguageRow kLanguages[] = {
    {"file:///nowhere/a.rpl", "f4 f{i} (in f4 a) {{ return a; }}", 3},
    {"file:///nowhere/a.hlsl", "float f{i}(float a) {{ return a; }}", 6},
    {"file:///nowhere/a.wgsl", "fn f{i}(a: f32) -> f32 {{ return a; }}", 3},
};
constexpr const char* kRequests[] = {
    "textDocument/semanticTokens/full", "textDocument/foldingRange", "textDocument/documentSymbol",
    "textDocument/documentHighlight",   "textDocument/references",
};

// On one line and on many, the same requests are answered as long as there is time.
TEST(LspBounds, RequestAboutManyNames_EndsWhenItsTimeIsOver) {
  for (const LanguageRow& row : kLanguages) {
    for (const char* separator : {" ", "\n"}) {
      LookedAtClock clock;
      TestEditor editor(clock);
      editor.Initialize();
      editor.Open(row.uri, Repeated(row.function, separator));
      for (const char* request : kRequests) {
        clock.step = Duration::zero();
        EXPECT_TRUE(editor.Ask(request, TestEditor::At(row.uri, 0, row.name)).contains("result"))
            << row.uri << " " << request;
        clock.step = std::chrono::milliseconds(100);
        const Json answer = editor.Ask(request, TestEditor::At(row.uri, 0, row.name));
        ASSERT_TRUE(answer.contains("error")) << row.uri << " " << request;
        EXPECT_NE(answer["error"]["message"].get<std::string>().find("five seconds"),
                  std::string::npos);
      }
    }
  }
}

// A program whose variants wait to be tried, or were, keeps its messages and not its modules.
TEST(LspBounds, ManyProgramsOfOneSource_AreTriedOneAfterAnother) {
  constexpr int kPrograms = 12;
  const TestDirectory folder;
  const std::string root = (folder.path() / "m.hlsl").string();
  std::string manifest =
      "[project]\nmanifest = 1\nname = \"x\"\n[target.vk]\nform = \"spirv\"\nenv = \"vulkan1.1\"\n";
  for (int i = 0; i < kPrograms; ++i) {
    manifest += fmt::format(
        "[[program]]\nname = \"p{0}\"\nsources = [\"m.hlsl\"]\nentry_points = {{ vertex = \"main\" "
        "}}"
        "\nhlsl = {{ defines = {{ D{0} = \"1\" }} }}\ntargets = [\"vk\"]\n",
        i);
  }
  ASSERT_TRUE(WriteFile((folder.path() / "kiln.toml").string(), AsBytes(manifest)).ok());
  const std::string text =
      "float4 main(float4 p : POSITION) : SV_Position { return p; }\n"
      "#ifdef D7\nfloat broken() { return nothing; }\n#endif\n";
  ASSERT_TRUE(WriteFile(root, AsBytes(text)).ok());

  SystemClock clock;
  Session session;
  Checker checker(session, clock, 1);
  ASSERT_FALSE(session.documents()
                   .Open({{"textDocument", {{"uri", UriOf(root)}, {"version", 1}, {"text", text}}}})
                   .has_value());
  checker.Touch(root);
  std::vector<Json> out;
  size_t most = 0;
  while (checker.Step(out)) {
    most = std::max(most, checker.held_programs());
  }
  EXPECT_EQ(most, 1u);
  EXPECT_TRUE(checker.idle());
  EXPECT_EQ(checker.held_programs(), 0u);
  EXPECT_EQ(checker.checked_programs(), static_cast<size_t>(kPrograms));
  ASSERT_FALSE(out.empty());
  EXPECT_EQ(out.back()["params"]["diagnostics"].size(), 1u) << out.back();
  // What did not change is not checked again, though nothing of it was kept.
  out.clear();
  checker.Touch(root);
  while (checker.Step(out)) {
    EXPECT_EQ(checker.held_programs(), 0u);
  }
}

// Files that are touched at once each have their first answer at once; their spaces are tried
// later.
TEST(LspBounds, ProgramThatHadToWait_IsTriedToItsEnd) {
  constexpr int kFiles = 5;
  const std::string text =
      "instance wet: flag false;\ncolor_output_container target { f4 color; };\n"
      "void a_vertex (void) { vertex_stage_output_position (f4 {0.0}); }\n"
      "void a_fragment (void)\n{\n    f4 color = f4 {1.0};\n"
      "    conditional (wet) { color = color * 2u; }\n    target.color = color;\n}\n";
  SystemClock clock;
  Session session;
  Checker checker(session, clock, 1);
  for (int i = 0; i < kFiles; ++i) {
    const std::string uri = fmt::format("file:///nowhere/{}.rpl", i);
    ASSERT_FALSE(session.documents()
                     .Open({{"textDocument", {{"uri", uri}, {"version", 1}, {"text", text}}}})
                     .has_value());
    checker.Touch(fmt::format("/nowhere/{}.rpl", i));
  }
  std::vector<Json> out;
  while (checker.Step(out)) {
    EXPECT_LE(checker.held_programs(), 1u);
  }
  for (int i = 0; i < kFiles; ++i) {
    const std::string uri = fmt::format("file:///nowhere/{}.rpl", i);
    Json last;
    for (const Json& message : out) {
      last = message["params"]["uri"] == uri ? message["params"]["diagnostics"] : last;
    }
    ASSERT_FALSE(last.empty()) << uri;
    EXPECT_NE(last[0]["message"].get<std::string>().find("when wet"), std::string::npos) << last;
  }
}

}  // namespace
}  // namespace kiln::lsp
