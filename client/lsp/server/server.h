// SPDX-License-Identifier: MIT
// The language server as a machine without input and output: bytes in, bytes out, one step of work
// at a time. One thread; `run` connects it to a pair of descriptors.
//
// Messages are taken in order, and all that have arrived are looked at before one is answered: a
// request that was cancelled, or whose document changed behind it, costs nothing and is told so.
// Work between requests (diagnostics) is done when nothing waits.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "client/lsp/diagnostics/checker.h"
#include "client/lsp/features/session.h"
#include "client/lsp/protocol/frame_reader.h"
#include "client/lsp/protocol/message.h"
#include "client/lsp/server/progress.h"
#include "compiler/base/clock.h"

namespace kiln::lsp {

class Server {
 public:
  // Messages that may wait; whoever feeds the server stops reading then.
  static constexpr size_t kMaxQueue = 1024;
  // What one message may cost before it is refused: CPU time and memory that is charged.
  static constexpr Duration kMessageTime = std::chrono::seconds(5);
  static constexpr uint64_t kMessageBytes = uint64_t{256} << 20;

  // `clock` outlives it; `version` is told to clients.
  Server(Clock& clock, std::string version) : clock_(clock), version_(std::move(version)) {}

  void Receive(std::string_view bytes);
  bool wants_input() const { return queue_.size() < kMaxQueue; }
  // Answers one message, or does a slice of other work; false: nothing is left to do.
  bool Step();
  // Frames to send, oldest first; they are given away.
  std::string TakeOutput();
  // Set by `exit`: 0 behind `shutdown`, else 1.
  std::optional<int> exit_code() const { return exit_code_; }

 private:
  enum class State : uint8_t { kNew, kRunning, kShutDown };

  void Take(std::variant<RpcMessage, BadRpcMessage> message);
  void Handle(const RpcMessage& message);
  Outcome Answer(const RpcMessage& request);
  void Notice(const RpcMessage& notification);
  void TakeAnswer(const RpcMessage& answer);
  Outcome Initialize(const Json& params);
  bool IsStale(const RpcMessage& request) const;
  void Send(const Json& json);
  void SendAll(std::vector<Json>& messages);
  void ShowError(const std::string& text);
  void RefreshVariants();
  void RefreshDiagnostics();
  void ShowProgress();
  void CheckNow(const std::string& uri);
  void AskForChoice(const Json& arguments);

  Clock& clock_;
  const std::string version_;
  FrameReader frames_;
  std::deque<RpcMessage> queue_;
  std::string output_;
  State state_ = State::kNew;
  std::optional<int> exit_code_;
  Session session_;
  Checker checker_{session_, clock_};
  int64_t next_request_ = 1;  // of requests to the client
  Progress progress_{clock_, next_request_};
  std::optional<int64_t> refresh_;  // of diagnostics, not answered yet
  struct Question {
    int64_t id = 0;
    Json arguments;  // of kiln.chooseVariant, so far
  };
  std::vector<Question> questions_;  // not answered yet
};

}  // namespace kiln::lsp
