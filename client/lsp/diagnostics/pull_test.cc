// SPDX-License-Identifier: MIT
// Diagnostics that a client asks for, through the server: what a report says, and when the client
// is told to ask again.
#include <string>

#include <gtest/gtest.h>

#include "client/lsp/diagnostics/reports.h"
#include "client/lsp/documents/uri.h"
#include "client/lsp/server/test_editor.h"
#include "compiler/base/digest.h"
#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"

namespace kiln::lsp {
namespace {

constexpr char kUri[] = "file:///nowhere/a.rpl";
constexpr char kGood[] =
    "instance wet: flag false;\n"
    "color_output_container target { f4 color; };\n"
    "void a_vertex (void) { vertex_stage_output_position (f4 {0.0}); }\n"
    "void a_fragment (void)\n"
    "{\n"
    "    f4 color = f4 {1.0};\n"
    "    conditional (wet) { color = color * 2.0; }\n"
    "    target.color = color;\n"
    "}\n";

std::string With(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

// Wrong in a variant that nobody looks at; wrong at once; no RPL at all.
const std::string kWrongWhenWet = With(kGood, "color * 2.0", "color * 2u ");
const std::string kWrong = With(kGood, "f4 {1.0}", "f4 {1u }");
const std::string kNoGrammar = With(kGood, "f4 color = ", "f4 color ) ");

class PulledDiagnostics : public testing::Test {
 protected:
  void Begin(bool pulls = true) {
    Json abilities = {{"workspace", {{"diagnostics", {{"refreshSupport", true}}}}}};
    if (pulls) {
      abilities["textDocument"] = {{"diagnostic", Json::object()}};
    }
    editor.Initialize(std::move(abilities));
  }
  Json Pull(const std::string& uri, const std::string& previous = {}) {
    Json params{{"textDocument", {{"uri", uri}}}};
    if (!previous.empty()) {
      params["previousResultId"] = previous;
    }
    return editor.Result("textDocument/diagnostic", params);
  }
  size_t Count(std::string_view method) const {
    size_t count = 0;
    for (const Json& message : editor.received()) {
      count += message.value("method", "") == method ? 1 : 0;
    }
    return count;
  }
  size_t Refreshes() const { return Count("workspace/diagnostic/refresh"); }
  void AnswerRefreshes() {
    for (const Json& message : std::vector<Json>(editor.received())) {
      if (message.value("method", "") == "workspace/diagnostic/refresh") {
        editor.Queue({{"jsonrpc", "2.0"}, {"id", message["id"]}, {"result", nullptr}});
      }
    }
    editor.Forget();
    editor.Settle();
  }

  SystemClock clock;
  TestEditor editor{clock};
};

TEST_F(PulledDiagnostics, Initialize_NamesThemToClientsThatPullOnly) {
  for (const bool pulls : {false, true}) {
    TestEditor one(clock);
    Json abilities = {{"workspace", {{"diagnostics", {{"refreshSupport", true}}}}}};
    if (pulls) {
      abilities["textDocument"] = {{"diagnostic", Json::object()}};
    }
    const Json answer = one.Ask("initialize", {{"capabilities", abilities}});
    EXPECT_EQ(answer["result"]["capabilities"].contains("diagnosticProvider"), pulls);
  }
}

TEST_F(PulledDiagnostics, Client_IsToldInOneWayOnly) {
  Begin();
  editor.Open(kUri, kWrong);
  EXPECT_EQ(Pull(kUri)["items"].size(), 1u);
  EXPECT_EQ(Count("textDocument/publishDiagnostics"), 0u);
  TestEditor other(clock);  // it cannot be told to ask again, so it is told everything
  other.Initialize({{"textDocument", {{"diagnostic", Json::object()}}}});
  other.Open(kUri, kWrong);
  EXPECT_EQ(other.Diagnostics(kUri).size(), 1u);
}

// Asked before the checker had a moment: the answer is about the text all the same.
TEST_F(PulledDiagnostics, Answer_IsAboutTheTextAsItIs) {
  struct Row {
    std::string text;
    size_t items;
  };
  const Row rows[] = {{kGood, 0}, {kWrong, 1}, {kNoGrammar, 1}, {kGood, 0}};
  Begin();
  int64_t version = 0;
  for (const Row& row : rows) {
    editor.QueueNotification(
        "textDocument/didOpen",
        {{"textDocument",
          {{"uri", kUri}, {"languageId", "rpl"}, {"version", ++version}, {"text", row.text}}}});
    const int64_t id =
        editor.QueueRequest("textDocument/diagnostic", {{"textDocument", {{"uri", kUri}}}});
    EXPECT_TRUE(editor.server().Step());
    EXPECT_TRUE(editor.server().Step());
    editor.Settle();
    const Json report = editor.AnswerOf(id)["result"];
    EXPECT_EQ(report["kind"], "full") << row.text;
    EXPECT_EQ(report["items"].size(), row.items) << report;
  }
}

TEST_F(PulledDiagnostics, SameTextAndMessages_AreUnchanged) {
  Begin();
  editor.Open(kUri, kWrong);
  const std::string id = Pull(kUri)["resultId"];
  const Json again = Pull(kUri, id);
  EXPECT_EQ(again, (Json{{"kind", "unchanged"}, {"resultId", id}}));
  EXPECT_EQ(Pull(kUri, "kiln:other")["kind"], "full");
  // A line behind the mistake: the same messages, but an editor may have moved what it shows.
  editor.Replace(kUri, kWrong + "\n", 2);
  const Json moved = Pull(kUri, id);
  EXPECT_EQ(moved["kind"], "full");
  EXPECT_NE(moved["resultId"], id);
  editor.Replace(kUri, kWrong, 3);
  EXPECT_EQ(Pull(kUri, id)["kind"], "unchanged");
}

// The grammar and the variant one looks at are right, another variant is not: the answer says
// nothing, and then the client is told once to ask again.
TEST_F(PulledDiagnostics, MessagesOfOtherVariants_AreFetchedBehindARefresh) {
  Begin();
  editor.QueueNotification(
      "textDocument/didOpen",
      {{"textDocument",
        {{"uri", kUri}, {"languageId", "rpl"}, {"version", 1}, {"text", kWrongWhenWet}}}});
  const int64_t first =
      editor.QueueRequest("textDocument/diagnostic", {{"textDocument", {{"uri", kUri}}}});
  editor.Settle();
  EXPECT_EQ(editor.AnswerOf(first)["result"]["items"], Json::array());
  EXPECT_EQ(Refreshes(), 1u);
  const Json report = Pull(kUri, editor.AnswerOf(first)["result"]["resultId"]);
  ASSERT_EQ(report["items"].size(), 1u) << report;
  EXPECT_NE(report["items"][0]["message"].get<std::string>().find("fails when wet, 1 of 2"),
            std::string::npos);
  AnswerRefreshes();
  EXPECT_EQ(Refreshes(), 0u);
}

TEST_F(PulledDiagnostics, RefreshThatIsNotAnswered_IsTheOnlyOne) {
  Begin();
  editor.Open(kUri, kWrongWhenWet);
  for (int64_t version = 2; version < 8; ++version) {
    (void)Pull(kUri);
    editor.Replace(kUri, version % 2 == 0 ? std::string(kGood) : kWrongWhenWet, version);
  }
  EXPECT_EQ(Refreshes(), 1u);
  AnswerRefreshes();
  EXPECT_EQ(Refreshes(), 1u) << "what changed meanwhile is news";
}

TEST_F(PulledDiagnostics, DocumentThatIsNotOpen_IsRefused) {
  Begin();
  EXPECT_EQ(editor.Ask("textDocument/diagnostic",
                       {{"textDocument", {{"uri", "file:///not/open.rpl"}}}})["error"]["code"],
            -32602);
  EXPECT_EQ(editor.Ask("workspace/diagnostic", Json::object())["error"]["code"], -32602);
}

// A project of two programs, of which nothing is open.
class PulledWorkspace : public PulledDiagnostics {
 protected:
  void SetUp() override {
    Write("kiln.toml",
          "[project]\nmanifest = 1\nname = \"p\"\n[defaults]\ntargets = [\"vk\"]\n"
          "[target.vk]\nform = \"spirv\"\n"
          "[[program]]\nname = \"a\"\nsources = [\"a.rpl\"]\naxes = { wet = \"*\" }\n"
          "entry_points = { vertex = \"a_vertex\", fragment = \"a_fragment\" }\n");
    Write("a.rpl", kWrongWhenWet);
  }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFile((folder.path() / name).string(), AsBytes(text)).ok());
  }
  std::string Uri(const std::string& name) { return UriOf((folder.path() / name).string()); }
  void BeginInFolder() {
    (void)editor.Ask("initialize",
                     {{"rootUri", UriOf(folder.path().string())},
                      {"capabilities",
                       {{"textDocument", {{"diagnostic", Json::object()}}},
                        {"workspace", {{"diagnostics", {{"refreshSupport", true}}}}}}}});
    editor.Notify("initialized", Json::object());
  }
  Json PullAll(Json previous = Json::array()) {
    return editor.Result("workspace/diagnostic", {{"previousResultIds", std::move(previous)}})
        .at("items");
  }

  TestDirectory folder;
};

TEST_F(PulledWorkspace, FilesThatAreNotOpen_AreChecked) {
  BeginInFolder();
  EXPECT_EQ(PullAll(), Json::array());
  EXPECT_EQ(Refreshes(), 1u);
  const Json items = PullAll();
  ASSERT_EQ(items.size(), 1u) << items;
  EXPECT_EQ(items[0]["uri"], Uri("a.rpl"));
  EXPECT_EQ(items[0]["version"], nullptr);
  EXPECT_EQ(items[0]["items"].size(), 1u);
  const Json known = {{{"uri", Uri("a.rpl")}, {"value", items[0]["resultId"]}}};
  EXPECT_EQ(PullAll(known)[0]["kind"], "unchanged");
}

TEST_F(PulledWorkspace, MendedFile_IsReportedWithoutMessages) {
  BeginInFolder();
  (void)PullAll();
  const Json items = PullAll();
  AnswerRefreshes();
  Write("a.rpl", kGood);
  editor.Notify("workspace/didChangeWatchedFiles", {{"changes", Json::array()}});
  EXPECT_EQ(Refreshes(), 1u);
  const Json mended = PullAll({{{"uri", Uri("a.rpl")}, {"value", items[0]["resultId"]}}});
  ASSERT_EQ(mended.size(), 1u);
  EXPECT_EQ(mended[0]["items"], Json::array());
}

TEST_F(PulledWorkspace, WrongManifest_IsReported) {
  Write("kiln.toml", "[[program\n");
  BeginInFolder();
  (void)PullAll();
  const Json items = PullAll();
  ASSERT_EQ(items.size(), 1u) << items;
  EXPECT_EQ(items[0]["uri"], Uri("kiln.toml"));
}

// The client chooses what it names; only what it had is answered, and nothing of it is kept.
TEST_F(PulledWorkspace, IdsOfFilesThatAreNone_AreAnsweredWithNoMessages) {
  BeginInFolder();
  Json previous = Json::array({7, Json::object(), {{"uri", "file:///gone.rpl"}, {"value", 7}}});
  previous.push_back({{"uri", "file:///gone.rpl"}, {"value", "kiln:1"}});
  previous.push_back({{"uri", "untitled:a"}, {"value", "kiln:1"}});
  const Json items = PullAll(previous);
  ASSERT_EQ(items.size(), 2u) << items;
  EXPECT_EQ(items[0]["items"], Json::array());
}

TEST(Reports, Change_IsNewsOnlyIfTheClientWouldNotHear) {
  const Json row = Json::array({{{"message", "m"}}});
  struct Row {
    const char* what;
    bool given, asked, all, news;
  };
  const Row rows[] = {
      {"nobody asked", false, false, false, false}, {"it has the file", true, false, false, true},
      {"it is asking", true, true, false, false},   {"it has all files", false, false, true, true},
      {"it is asking", false, true, true, false},
  };
  for (const Row& one : rows) {
    Reports reports;
    (void)reports.Set("a", Json::array(), nullptr);
    if (one.given) {
      reports.MarkGiven("a");
    }
    if (one.all) {
      reports.MarkAllGiven();
    }
    if (one.asked) {
      reports.MarkAsked("a");
    }
    EXPECT_TRUE(reports.Set("a", row, nullptr));
    EXPECT_EQ(reports.TakeNews(), one.news) << one.what;
    EXPECT_FALSE(reports.Set("a", row, nullptr));
    EXPECT_FALSE(reports.TakeNews());
  }
}

}  // namespace
}  // namespace kiln::lsp
