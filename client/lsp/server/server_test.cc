// SPDX-License-Identifier: MIT
#include "client/lsp/server/server.h"

#include <string>

#include <gtest/gtest.h>

#include "client/lsp/server/test_editor.h"

namespace kiln::lsp {
namespace {

constexpr char kUri[] = "file:///nowhere/a.rpl";
constexpr char kSource[] =
    "instance wet: flag false;\n"
    "color_output_container target { f4 color; };\n"
    "void a_vertex (void) { vertex_stage_output_position (f4 {0.0}); }\n"
    "void a_fragment (void)\n"
    "{\n"
    "    f4 color = f4 {1.0};\n"
    "    conditional (wet) { color = color * 2.0; }\n"
    "    target.color = color;\n"
    "}\n";

class LspServer : public testing::Test {
 protected:
  int CodeOf(const Json& answer) const {
    return answer.contains("error") ? answer["error"]["code"].get<int>() : 0;
  }

  SystemClock clock;
  TestEditor editor{clock};
};

TEST_F(LspServer, BeforeInitialize_RequestsAreRefused) {
  EXPECT_EQ(CodeOf(editor.Ask("textDocument/hover", TestEditor::At(kUri, 0, 0))), -32002);
  EXPECT_EQ(CodeOf(editor.Ask("shutdown", nullptr)), -32002);
}

TEST_F(LspServer, SecondInitialize_IsRefused) {
  editor.Initialize();
  EXPECT_EQ(CodeOf(editor.Ask("initialize", Json::object())), -32600);
}

TEST_F(LspServer, BehindShutdown_OnlyExitIsTaken) {
  editor.Initialize();
  EXPECT_EQ(editor.Ask("shutdown", Json::object())["result"], nullptr);
  EXPECT_EQ(CodeOf(editor.Ask("textDocument/hover", TestEditor::At(kUri, 0, 0))), -32600);
  editor.Notify("exit", Json::object());
  EXPECT_EQ(editor.server().exit_code(), 0);
}

TEST_F(LspServer, ExitWithoutShutdown_IsAFailure) {
  editor.Notify("exit", Json::object());
  EXPECT_EQ(editor.server().exit_code(), 1);
}

TEST_F(LspServer, UnknownMethods_AreAnsweredAndNotificationsIgnored) {
  editor.Initialize();
  EXPECT_EQ(CodeOf(editor.Ask("textDocument/moniker", Json::object())), -32601);
  editor.Forget();
  editor.Notify("$/whatever", Json::object());
  editor.Notify("workspace/whatever", Json::object());
  EXPECT_TRUE(editor.received().empty());
}

TEST_F(LspServer, BrokenFrames_AreAnsweredWithAnError) {
  editor.SendBytes("Content-Length: x\r\n\r\n" + FrameOf("{") + FrameOf("[]"));
  editor.Settle();
  ASSERT_EQ(editor.received().size(), 3u);
  EXPECT_EQ(CodeOf(editor.received()[0]), -32700);
  EXPECT_EQ(CodeOf(editor.received()[1]), -32700);
  EXPECT_EQ(CodeOf(editor.received()[2]), -32600);
}

TEST_F(LspServer, CancelledRequest_IsAnsweredAsCancelled) {
  editor.Initialize();
  editor.Open(kUri, kSource);
  const int64_t id = editor.QueueRequest("textDocument/hover", TestEditor::At(kUri, 5, 8));
  editor.QueueNotification("$/cancelRequest", {{"id", id}});
  editor.Settle();
  EXPECT_EQ(CodeOf(editor.AnswerOf(id)), -32800);
}

TEST_F(LspServer, RequestBeforeAChange_IsNotAnsweredForTheOldText) {
  editor.Initialize();
  editor.Open(kUri, kSource);
  const int64_t stale = editor.QueueRequest("textDocument/hover", TestEditor::At(kUri, 5, 8));
  editor.QueueNotification("textDocument/didChange",
                           {{"textDocument", {{"uri", kUri}, {"version", 2}}},
                            {"contentChanges", {{{"text", kSource}}}}});
  const int64_t fresh = editor.QueueRequest("textDocument/hover", TestEditor::At(kUri, 5, 8));
  editor.Settle();
  EXPECT_EQ(CodeOf(editor.AnswerOf(stale)), -32801);
  EXPECT_TRUE(editor.AnswerOf(fresh)["result"].is_object());
}

// Every request of the table, asked in the wrong way, is answered with an error or nothing.
TEST_F(LspServer, EveryRequest_WithWrongParameters_IsAnswered) {
  editor.Initialize();
  editor.Open(kUri, kSource);
  const Json wrong[] = {
      Json::object(),
      Json::array(),
      {{"textDocument", 7}},
      {{"textDocument", {{"uri", "file:///not/open.rpl"}}},
       {"position", {{"line", 0}, {"character", 0}}}},
      {{"textDocument", {{"uri", kUri}}}, {"position", {{"line", 9999}, {"character", 0}}}},
      {{"textDocument", {{"uri", kUri}}}, {"position", {{"line", -1}, {"character", 0}}}},
      {{"textDocument", {{"uri", kUri}}}, {"position", "here"}, {"range", "there"}, {"newName", 7}},
  };
  for (const char* method : {
#define KILN_LSP_REQUEST(name, function) name,
#include "client/lsp/features/methods.def"
       }) {
    for (const Json& params : wrong) {
      const Json answer = editor.Ask(method, params);
      EXPECT_TRUE(answer.contains("result") || answer.contains("error")) << method << params;
      const bool needs_more = !params.is_object() || params.size() < 3;
      if (needs_more && (params.empty() || !params.contains("position"))) {
        EXPECT_NE(CodeOf(answer), 0) << method << params;
        EXPECT_NE(CodeOf(answer), -32603) << method << params;
      }
    }
  }
}

TEST_F(LspServer, LostDocument_IsRefusedUntilSentWhole) {
  editor.Initialize();
  editor.Open(kUri, kSource);
  editor.Notify("textDocument/didChange", {{"textDocument", {{"uri", kUri}, {"version", 2}}},
                                           {"contentChanges",
                                            {{{"range",
                                               {{"start", {{"line", 500}, {"character", 0}}},
                                                {"end", {{"line", 500}, {"character", 0}}}}},
                                              {"text", "x"}}}}});
  EXPECT_EQ(editor.received().back()["method"], "window/showMessage");
  EXPECT_EQ(CodeOf(editor.Ask("textDocument/hover", TestEditor::At(kUri, 5, 8))), -32803);
  editor.Replace(kUri, kSource, 3);
  EXPECT_EQ(CodeOf(editor.Ask("textDocument/hover", TestEditor::At(kUri, 5, 8))), 0);
}

// The variants of a program are being tried when its only text is lost.
TEST_F(LspServer, DocumentLostWhileItIsChecked_IsCheckedNoMore) {
  editor.Initialize();
  editor.QueueNotification(
      "textDocument/didOpen",
      {{"textDocument",
        {{"uri", kUri}, {"languageId", "rpl"}, {"version", 1}, {"text", kSource}}}});
  EXPECT_TRUE(editor.server().Step());  // it is opened
  EXPECT_TRUE(editor.server().Step());  // and checked, but for its variants
  const Json nowhere = {{"line", 500}, {"character", 0}};
  editor.QueueNotification(
      "textDocument/didChange",
      {{"textDocument", {{"uri", kUri}, {"version", 2}}},
       {"contentChanges", {{{"range", {{"start", nowhere}, {"end", nowhere}}}, {"text", "x"}}}}});
  editor.QueueNotification("textDocument/didSave", {{"textDocument", {{"uri", kUri}}}});
  editor.Settle();
  editor.Replace(kUri, kSource, 3);
  EXPECT_EQ(CodeOf(editor.Ask("textDocument/hover", TestEditor::At(kUri, 5, 8))), 0);
}

TEST_F(LspServer, Diagnostics_FollowTheTextAndNameTheVariants) {
  editor.Initialize();
  editor.Open(kUri, kSource);
  EXPECT_EQ(editor.Diagnostics(kUri), Json::array());
  std::string wrong = kSource;
  wrong.replace(wrong.find("color * 2.0"), 11, "color * 2u ");
  editor.Replace(kUri, wrong, 2);
  const Json found = editor.Diagnostics(kUri);
  ASSERT_EQ(found.size(), 1u) << found;
  EXPECT_NE(found[0]["message"].get<std::string>().find("fails when wet, 1 of 2 variants"),
            std::string::npos)
      << found;
  editor.Replace(kUri, kSource, 3);
  EXPECT_EQ(editor.Diagnostics(kUri), Json::array());
  editor.Notify("textDocument/didClose", {{"textDocument", {{"uri", kUri}}}});
  EXPECT_EQ(editor.Diagnostics(kUri), Json::array());
}

TEST_F(LspServer, CommandsWithWrongArguments_AreRefused) {
  editor.Initialize();
  editor.Open(kUri, kSource);
  const Json wrong[] = {
      {{"command", "kiln.other"}, {"arguments", {{{"uri", kUri}}}}},
      {{"command", "kiln.chooseVariant"}},
      {{"command", "kiln.chooseVariant"}, {"arguments", {7}}},
      {{"command", "kiln.chooseVariant"}, {"arguments", {{{"uri", kUri}}}}},
      {{"command", "kiln.chooseVariant"},
       {"arguments", {{{"uri", kUri}, {"option", "dry"}, {"value", "true"}}}}},
      {{"command", "kiln.chooseVariant"},
       {"arguments", {{{"uri", kUri}, {"option", "wet"}, {"value", "7"}}}}},
      {{"command", "kiln.chooseVariant"}, {"arguments", {{{"uri", kUri}, {"program", "x"}}}}},
  };
  for (const Json& params : wrong) {
    EXPECT_NE(CodeOf(editor.Ask("workspace/executeCommand", params)), 0) << params;
  }
}

// A client that chooses from lists.
class LspChoice : public LspServer {
 protected:
  void Begin(const std::string& source) {
    editor.Initialize({{"window", {{"showMessage", {{"messageActionItem", Json::object()}}}}}});
    editor.Open(kUri, source);
    (void)editor.Ask("workspace/executeCommand",
                     {{"command", "kiln.chooseVariant"}, {"arguments", {{{"uri", kUri}}}}});
  }
  Json Question() const {
    Json question;
    for (const Json& message : editor.received()) {
      if (message.value("method", "") == "window/showMessageRequest") {
        question = message;
      }
    }
    return question;
  }
  void Choose(const std::string& title) {
    const Json question = Question();
    ASSERT_TRUE(question.is_object());
    editor.Queue({{"jsonrpc", "2.0"}, {"id", question["id"]}, {"result", {{"title", title}}}});
    editor.Settle();
  }
  std::string Lens(size_t number) {
    const Json lenses = editor.Result("textDocument/codeLens", {{"textDocument", {{"uri", kUri}}}});
    return lenses[number]["command"]["title"];
  }
  // What the user is shown; empty: nothing.
  std::string Shown() const {
    for (const Json& message : editor.received()) {
      if (message.value("method", "") == "window/showMessage") {
        return message["params"]["message"];
      }
    }
    return {};
  }
};

TEST_F(LspChoice, Variant_ChangesWhatIsShown) {
  Begin(kSource);
  Choose("wet = false");
  Choose("wet = true");
  EXPECT_EQ(Lens(2), "● true");
}

// Titles of programs begin with the same word.
TEST_F(LspChoice, OptionThatIsCalledProgram_CanBeChosen) {
  std::string source = kSource;
  for (size_t at = source.find("wet"); at != std::string::npos; at = source.find("wet")) {
    source.replace(at, 3, "program");
  }
  Begin(source);
  Choose("program = false");
  Choose("program = true");
  EXPECT_EQ(Lens(2), "● true");
  EXPECT_EQ(Shown(), "");
}

TEST_F(LspChoice, MoreOptionsThanAListHas_LeaveTheWayBack) {
  std::string source;
  for (int i = 0; i < 300; ++i) {
    source += "instance o" + std::to_string(i) + ": flag false;\n";
  }
  Begin(source + kSource);
  const Json actions = Question()["params"]["actions"];
  EXPECT_LE(actions.size(), 256u);
  EXPECT_EQ(actions.back()["title"], "every option as the manifest has it");
}

TEST_F(LspChoice, OptionThatIsGoneMeanwhile_IsTold) {
  Begin(kSource);
  Choose("wet = false");
  std::string other = kSource;
  for (size_t at = other.find("wet"); at != std::string::npos; at = other.find("wet")) {
    other.replace(at, 3, "dry");
  }
  editor.Replace(kUri, other, 2);
  Choose("wet = true");
  EXPECT_NE(Shown().find("has no option 'wet'"), std::string::npos) << Shown();
}

}  // namespace
}  // namespace kiln::lsp
