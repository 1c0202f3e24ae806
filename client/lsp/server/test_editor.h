// SPDX-License-Identifier: MIT
// An editor for tests: sends messages to a Server in this process and keeps what comes back.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "client/lsp/protocol/frame_reader.h"
#include "client/lsp/server/server.h"
#include "compiler/base/clock.h"

namespace kiln::lsp {

class TestEditor {
 public:
  explicit TestEditor(Clock& clock) : server_(clock, "test") {}

  Server& server() { return server_; }

  // As it is; nothing is worked on.
  void SendBytes(std::string_view bytes) { server_.Receive(bytes); }
  void Queue(const Json& message) { SendBytes(FrameOf(Dump(message))); }
  int64_t QueueRequest(std::string_view method, Json params) {
    Queue({{"jsonrpc", "2.0"}, {"id", ++id_}, {"method", method}, {"params", std::move(params)}});
    return id_;
  }
  void QueueNotification(std::string_view method, Json params) {
    Queue({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
  }

  // Works until nothing is left to do, and takes what was sent.
  void Settle() {
    while (server_.Step()) {
      Take();
    }
    Take();
  }

  // The answer of a request, with "result" or "error"; null if there is none.
  Json AnswerOf(int64_t id) const {
    for (const Json& message : received_) {
      if (message.contains("id") && message["id"] == id && !message.contains("method")) {
        return message;
      }
    }
    return nullptr;
  }
  Json Ask(std::string_view method, Json params) {
    const int64_t id = QueueRequest(method, std::move(params));
    Settle();
    return AnswerOf(id);
  }
  Json Result(std::string_view method, Json params) {
    const Json answer = Ask(method, std::move(params));
    return answer.contains("result") ? answer["result"] : answer;
  }
  void Notify(std::string_view method, Json params) {
    QueueNotification(method, std::move(params));
    Settle();
  }

  void Initialize(Json capabilities = Json::object()) {
    (void)Ask("initialize", {{"capabilities", std::move(capabilities)}});
    Notify("initialized", Json::object());
  }
  void Open(const std::string& uri, const std::string& text, int64_t version = 1) {
    Notify("textDocument/didOpen",
           {{"textDocument",
             {{"uri", uri}, {"languageId", "rpl"}, {"version", version}, {"text", text}}}});
  }
  void Replace(const std::string& uri, const std::string& text, int64_t version) {
    Notify("textDocument/didChange", {{"textDocument", {{"uri", uri}, {"version", version}}},
                                      {"contentChanges", {{{"text", text}}}}});
  }
  static Json At(const std::string& uri, uint32_t line, uint32_t character) {
    return {{"textDocument", {{"uri", uri}}},
            {"position", {{"line", line}, {"character", character}}}};
  }

  // The last diagnostics of a document; null if none were published.
  Json Diagnostics(const std::string& uri) const {
    for (auto message = received_.rbegin(); message != received_.rend(); ++message) {
      if (message->value("method", "") == "textDocument/publishDiagnostics" &&
          (*message)["params"]["uri"] == uri) {
        return (*message)["params"]["diagnostics"];
      }
    }
    return nullptr;
  }
  const std::vector<Json>& received() const { return received_; }
  void Forget() { received_.clear(); }

 private:
  void Take() {
    frames_.Add(server_.TakeOutput());
    while (const std::optional<FrameReader::Frame> frame = frames_.Next()) {
      received_.push_back(ParseJson(frame->content).value_or(Json("broken")));
    }
  }

  Server server_;
  FrameReader frames_;
  std::vector<Json> received_;
  int64_t id_ = 0;
};

}  // namespace kiln::lsp
