// SPDX-License-Identifier: MIT
// Random sessions: edits of real sources, in the middle of which everything is asked, rightly and
// wrongly. Every request has one answer, none of them is an internal error, nothing is answered for
// a version that is gone, and the server outlives it. KILN_LSP_STEPS says how many steps (default
// 2,000); a step that fails prints its seed.
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "client/lsp/documents/uri.h"
#include "client/lsp/server/test_editor.h"
#include "compiler/base/files/file.h"

namespace kiln::lsp {
namespace {

std::vector<std::string> Sources() {
  std::vector<std::string> texts;
  for (const char* name : {"tests/lsp/project/pass.rpl", "tests/lsp/project/water.rpl",
                           "tests/lsp/project/mud.rpl", "examples/demo/shaders/passes/forward.rpl",
                           "tests/acceptance/rpl/option_kinds.rpl", "tests/lsp/project/tone.hlsl",
                           "tests/lsp/project/tone.hlsli", "tests/lsp/project/blur.wgsl"}) {
    texts.push_back(ReadFile((std::filesystem::path(KILN_SOURCE_DIR) / name).string()).value());
  }
  return texts;
}

class RandomSession {
 public:
  explicit RandomSession(uint32_t seed) : random_(seed), texts_(Sources()), editor_(clock_) {
    Json abilities{{"textDocument", {{"publishDiagnostics", {{"relatedInformation", true}}}}},
                   {"window", {{"showMessage", {{"messageActionItem", Json::object()}}}}}};
    if (seed % 2 == 1) {  // a client that asks for diagnostics
      abilities["textDocument"]["diagnostic"] = Json::object();
      abilities["workspace"] = {{"diagnostics", {{"refreshSupport", true}}}};
    }
    abilities["window"]["workDoneProgress"] = seed % 3 == 0;
    editor_.Initialize(std::move(abilities));
    for (const char* name : {"pass.rpl", "water.rpl", "mud.rpl", "kiln.toml", "alone.rpl",
                             "tone.hlsl", "tone.hlsli", "blur.wgsl"}) {
      const std::filesystem::path path =
          std::filesystem::path(KILN_SOURCE_DIR) / "tests/lsp/project" / name;
      const Result<std::string> text = ReadFile(path.string());
      Open(UriOf(path.string()), text.ok() ? *text : texts_[3]);
    }
  }

  void Step() {
    const uint32_t what = Below(100);
    if (what < 45) {
      Edit();
    } else if (what < 90) {
      Request();
    } else if (what < 93) {
      Open(uris_[Below(uris_.size())], texts_[Below(texts_.size())]);
    } else if (what < 95) {
      editor_.SendBytes(Garbage());
    } else if (what < 97 && !pending_.empty()) {
      editor_.QueueNotification("$/cancelRequest", {{"id", pending_.back()}});
      editor_.QueueNotification("window/workDoneProgress/cancel",
                                {{"token", "kiln:check:" + std::to_string(Below(20))}});
    } else {
      for (uint32_t i = Below(40); i > 0; --i) {
        (void)editor_.server().Step();  // in the middle of its work
      }
    }
    if (Below(4) == 0) {
      Settle();
    }
  }

  uint32_t results() const { return results_; }
  uint32_t errors() const { return errors_; }

  void Settle() {
    editor_.Settle();
    for (const int64_t id : pending_) {
      const Json answer = editor_.AnswerOf(id);
      ASSERT_TRUE(answer.is_object()) << "no answer";
      ++(answer.contains("result") ? results_ : errors_);
      ASSERT_NE(answer.value("error", Json::object()).value("code", 0), -32603) << answer;
    }
    for (const Json& message : editor_.received()) {
      if (message.value("method", "") == "textDocument/publishDiagnostics") {
        const Json& params = message["params"];
        for (size_t i = 0; i < uris_.size(); ++i) {
          if (uris_[i] == params["uri"] && params.contains("version")) {
            ASSERT_LE(params["version"].get<int64_t>(), versions_[i]);
          }
        }
      }
      if (message.value("method", "") == "workspace/diagnostic/refresh" ||
          message.value("method", "") == "window/workDoneProgress/create") {
        editor_.Queue({{"jsonrpc", "2.0"}, {"id", message["id"]}, {"result", nullptr}});
      }
      if (message.value("method", "") == "window/showMessage") {
        const std::string text = message["params"]["message"];
        ASSERT_EQ(text.find("gave up"), std::string::npos) << text;
        ASSERT_EQ(text.find("internal"), std::string::npos) << text;
      }
    }
    editor_.Forget();
    pending_.clear();
  }

 private:
  uint32_t Below(size_t end) { return static_cast<uint32_t>(random_() % end); }

  void Open(const std::string& uri, const std::string& text) {
    size_t i = static_cast<size_t>(std::ranges::find(uris_, uri) - uris_.begin());
    if (i == uris_.size()) {
      uris_.push_back(uri);
      current_.emplace_back();
      versions_.push_back(0);
    }
    current_[i] = text;
    editor_.QueueNotification(
        "textDocument/didOpen",
        {{"textDocument",
          {{"uri", uri}, {"languageId", "rpl"}, {"version", ++versions_[i]}, {"text", text}}}});
  }

  Position PlaceIn(const std::string& text) {
    const LineTable lines(text);
    return {.line = Below(lines.line_count()), .character = Below(90)};
  }

  std::string Words() {
    static const char* const kPieces[] = {"{",
                                          "}",
                                          "(",
                                          ")",
                                          ";",
                                          ".",
                                          "\"",
                                          "=",
                                          "conditional (",
                                          "f4 ",
                                          "\n",
                                          "// ",
                                          "wet",
                                          "fog",
                                          "view.",
                                          "water.",
                                          "hazy (",
                                          " == ",
                                          "setting ",
                                          "\xc3\xa4",
                                          "\xff",
                                          "struct a { f4 b; };",
                                          "void f (void) { }",
                                          "#",
                                          "/*",
                                          "[",
                                          "0x",
                                          "1.0",
                                          "instance x: enum \"a\" \"b\";",
                                          "#include \"tone.hlsli\"\n",
                                          "#define exposed ",
                                          "kernel.",
                                          "grade.",
                                          "let a = ",
                                          "fn f() { }"};
    std::string text;
    for (uint32_t i = Below(4); i > 0; --i) {
      text += kPieces[Below(std::size(kPieces))];
    }
    if (Below(6) == 0) {
      const std::string& source = texts_[Below(texts_.size())];
      text += source.substr(Below(source.size()), Below(200));
    }
    return text;
  }

  // The text that the client has is kept, to know which edits are right.
  void Edit() {
    const size_t i = Below(uris_.size());
    std::string& text = current_[i];
    Range range{.start = PlaceIn(text), .end = PlaceIn(text)};
    if (Below(3) != 0) {
      range.end = {.line = range.start.line, .character = range.start.character + Below(6)};
    }
    if (range.end < range.start) {
      std::swap(range.start, range.end);
    }
    const LineTable lines(text);
    const uint32_t begin = *lines.OffsetOf(text, range.start, Encoding::kUtf16);
    const uint32_t end = *lines.OffsetOf(text, range.end, Encoding::kUtf16);
    std::string words = Words();
    for (char& c : words) {
      c = c == '\xff' ? '?' : c;  // JSON has no such byte
    }
    Json change{{"range", JsonOf(range)}, {"text", words}};
    if (Below(200) == 0) {
      change["range"] = {{"start", {{"line", 1u << 20}, {"character", 0}}}};  // nonsense
      words.clear();
    } else {
      text.replace(begin, end - begin, words);
    }
    if (text.size() > 60'000 || Below(50) == 0) {
      text = texts_[Below(texts_.size())];
      change = {{"text", text}};
    }
    editor_.QueueNotification("textDocument/didChange",
                              {{"textDocument", {{"uri", uris_[i]}, {"version", ++versions_[i]}}},
                               {"contentChanges", Json::array({change})}});
  }

  void Request() {
    static const char* const kMethods[] = {
#define KILN_LSP_REQUEST(method, function) method,
#include "client/lsp/features/methods.def"
        "textDocument/unknown"};
    const size_t i = Below(uris_.size());
    const Position at = PlaceIn(current_[i]);
    Json params = TestEditor::At(uris_[i], at.line + (Below(40) == 0 ? 5000 : 0), at.character);
    params["range"] = JsonOf(Range{.start = at, .end = PlaceIn(current_[i])});
    params["positions"] = Json::array({JsonOf(at)});
    params["newName"] = Below(3) == 0 ? "tint" : "renamed";
    params["query"] = "w";
    params["previousResultIds"] = Json::array({Json{{"uri", uris_[i]}, {"value", "kiln:1"}}});
    params["command"] = "kiln.chooseVariant";
    params["arguments"] = Json::array({Json{{"uri", uris_[i]},
                                            {"option", Below(2) == 0 ? "wet" : "fog"},
                                            {"value", Below(2) == 0 ? "true" : "thin"}}});
    if (Below(30) == 0) {
      params.erase(Below(2) == 0 ? "textDocument" : "position");
    }
    pending_.push_back(editor_.QueueRequest(kMethods[Below(std::size(kMethods))], params));
  }

  std::string Garbage() {
    switch (Below(5)) {
      case 0:
        return FrameOf("{\"jsonrpc\":");
      case 1:
        return FrameOf(std::string(100, '['));
      case 2:
        return "Content-Length: nonsense\r\n\r\n";
      case 3:
        return FrameOf("{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"initialize\"}");
      default:
        return FrameOf("\"\\ud800\"");
    }
  }

  SystemClock clock_;
  std::mt19937 random_;
  const std::vector<std::string> texts_;
  TestEditor editor_;
  std::vector<std::string> uris_;
  std::vector<std::string> current_;
  std::vector<int64_t> versions_;
  std::vector<int64_t> pending_;
  uint32_t results_ = 0;
  uint32_t errors_ = 0;
};

TEST(RandomSession, EveryRequest_IsAnsweredAndNothingEndsTheServer) {
  const char* const wanted = std::getenv("KILN_LSP_STEPS");
  const uint32_t steps = wanted == nullptr ? 2000 : static_cast<uint32_t>(std::atoll(wanted));
  constexpr uint32_t kStepsOfASession = 500;
  uint32_t results = 0;
  uint32_t errors = 0;
  for (uint32_t done = 0; done < steps; done += kStepsOfASession) {
    const uint32_t seed = done / kStepsOfASession;
    SCOPED_TRACE(seed);
    RandomSession session(seed);
    for (uint32_t step = 0; step < kStepsOfASession; ++step) {
      session.Step();
      if (testing::Test::HasFatalFailure()) {
        return;
      }
    }
    session.Settle();
    results += session.results();
    errors += session.errors();
  }
  EXPECT_GT(results, steps / 8);  // otherwise the walk has nothing to do with what editors do
  EXPECT_GT(errors, steps / 100);
}

}  // namespace
}  // namespace kiln::lsp
