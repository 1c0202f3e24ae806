// SPDX-License-Identifier: MIT
#include "client/lsp/server/progress.h"

#include <string>

#include <gtest/gtest.h>

#include "client/lsp/documents/uri.h"
#include "client/lsp/server/test_editor.h"
#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"

namespace kiln::lsp {
namespace {

// What is sent as "create TOKEN", "begin 0%", "report 50%", "end".
std::string Short(const std::vector<Json>& sent) {
  std::string text;
  for (const Json& message : sent) {
    const std::string method = message.value("method", "");
    if (method == "window/workDoneProgress/create") {
      text += "create ";
    } else if (method == "$/progress") {
      const Json& value = message["params"]["value"];
      text += value["kind"].get<std::string>();
      text += value.contains("percentage")
                  ? " " + std::to_string(value["percentage"].get<int>()) + "% "
                  : " ";
    }
  }
  return text;
}

class LspProgress : public testing::Test {
 protected:
  std::string Update(size_t left, Duration after = Duration::zero()) {
    clock.Advance(after);
    std::vector<Json> out;
    progress.Update(left, out);
    return Short(out);
  }
  std::string Answer(int64_t id, bool failed = false) {
    std::vector<Json> out;
    RpcMessage answer{.kind = RpcMessage::Kind::kAnswer,
                      .id = id,
                      .method = {},
                      .params = nullptr,
                      .failed = failed};
    return progress.Take(answer, out) ? Short(out) : "not mine";
  }

  FakeClock clock;
  int64_t next_request = 7;
  Progress progress{clock, next_request};
};

TEST_F(LspProgress, WorkOfAMoment_IsNotShown) {
  EXPECT_EQ(Update(3), "");
  EXPECT_EQ(Update(1, Progress::kDelay / 2), "");
  EXPECT_EQ(Update(0, Progress::kDelay), "");
  EXPECT_EQ(Update(3), "") << "work that begins anew";
}

TEST_F(LspProgress, LongWork_IsShownOnceTheClientAgreed) {
  EXPECT_EQ(Update(4), "");
  EXPECT_EQ(Update(4, Progress::kDelay), "create ");
  EXPECT_EQ(Update(3), "") << "nothing before the answer";
  EXPECT_EQ(Answer(99), "not mine");
  EXPECT_EQ(Answer(7), "begin 25% ");
  EXPECT_EQ(Update(3), "");
  EXPECT_EQ(Update(2), "report 50% ");
  EXPECT_EQ(Update(6), "") << "more came: the share does not fall";
  EXPECT_EQ(Update(1), "report 87% ");
  EXPECT_EQ(Update(0), "end ");
  EXPECT_EQ(Update(0), "");
}

TEST_F(LspProgress, ClientThatRefuses_IsToldNothing) {
  (void)Update(4);
  EXPECT_EQ(Update(4, Progress::kDelay), "create ");
  EXPECT_EQ(Answer(7, true), "");
  EXPECT_EQ(Update(2, Progress::kDelay), "");
  EXPECT_EQ(Update(0), "");
}

TEST_F(LspProgress, AnswerBehindTheEnd_BeginsNothing) {
  (void)Update(4);
  EXPECT_EQ(Update(4, Progress::kDelay), "create ");
  EXPECT_EQ(Update(0), "");
  EXPECT_EQ(Answer(7), "");
  EXPECT_EQ(Update(0), "");
}

TEST_F(LspProgress, Cancel_IsOfWhatIsShown) {
  const Json right = {{"token", "kiln:check:7"}};
  EXPECT_FALSE(progress.IsCancel(right));
  (void)Update(4);
  (void)Update(4, Progress::kDelay);
  EXPECT_FALSE(progress.IsCancel(right));
  (void)Answer(7);
  EXPECT_TRUE(progress.IsCancel(right));
  for (const Json& wrong : {Json{{"token", "kiln:check:8"}}, Json{{"token", 7}}, Json::object()}) {
    EXPECT_FALSE(progress.IsCancel(wrong)) << wrong;
  }
}

// Three programs of one source; the clock passes between the steps.
TEST(LspServerProgress, ChecksThatAreCancelled_EndAndComeBackWithAChange) {
  TestDirectory folder;
  const std::string source =
      "color_output_container target { f4 color; };\n"
      "void a_vertex (void) { vertex_stage_output_position (f4 {0.0}); }\n"
      "void a_fragment (void) { target.color = f4 {1.0}; }\n";
  std::string manifest =
      "[project]\nmanifest = 1\nname = \"p\"\n[defaults]\ntargets = [\"vk\"]\n"
      "[target.vk]\nform = \"spirv\"\n";
  for (const char* name : {"a", "b", "c"}) {
    manifest += std::string("[[program]]\nname = \"") + name +
                "\"\nsources = [\"a.rpl\"]\n"
                "entry_points = { vertex = \"a_vertex\", fragment = \"a_fragment\" }\n";
  }
  ASSERT_TRUE(WriteFile((folder.path() / "kiln.toml").string(), AsBytes(manifest)).ok());
  const std::string uri = UriOf((folder.path() / "a.rpl").string());
  FakeClock clock;
  TestEditor editor(clock);
  editor.Initialize({{"window", {{"workDoneProgress", true}}}});
  const auto open = [&](int64_t version) {
    editor.Forget();
    editor.QueueNotification(
        "textDocument/didOpen",
        {{"textDocument",
          {{"uri", uri}, {"languageId", "rpl"}, {"version", version}, {"text", source}}}});
    EXPECT_TRUE(editor.server().Step());  // it is opened
    EXPECT_TRUE(editor.server().Step());  // its first program, but for variants
    clock.Advance(Progress::kDelay);
    EXPECT_TRUE(editor.server().Step());  // the next, and that it takes long
  };
  open(1);
  editor.Queue({{"jsonrpc", "2.0"}, {"id", 1}, {"result", nullptr}});
  EXPECT_TRUE(editor.server().Step());
  editor.QueueNotification("window/workDoneProgress/cancel", {{"token", "kiln:check:1"}});
  editor.Settle();
  EXPECT_EQ(Short(editor.received()).substr(0, 13), "create begin ");
  EXPECT_TRUE(Short(editor.received()).ends_with("end ")) << Short(editor.received());
  EXPECT_EQ(Short(editor.received()).find("report"), std::string::npos);
  editor.Notify("textDocument/didSave", {{"textDocument", {{"uri", uri}}}});
  EXPECT_TRUE(editor.server().exit_code() == std::nullopt);
  EXPECT_EQ(editor.Diagnostics(uri), Json::array());
}

}  // namespace
}  // namespace kiln::lsp
