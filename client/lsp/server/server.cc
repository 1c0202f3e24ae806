// SPDX-License-Identifier: MIT
// The language server: messages in, messages out, checks in between. It has one thread and does no
// input or output itself, so a test drives it with texts.
#include "client/lsp/server/server.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "client/lsp/documents/uri.h"
#include "client/lsp/features/commands.h"
#include "client/lsp/features/features.h"
#include "client/lsp/server/capabilities.h"
#include "compiler/base/threads/stop.h"
#include "compiler/base/threads/thread.h"

namespace kiln::lsp {
namespace {

using Handler = Outcome (*)(Session&, const Json&);

struct MethodRow {
  std::string_view method;
  Handler handler;
  bool pulls = false;
};
// The order of the rows does not matter; there are some twenty.
constexpr MethodRow kMethods[] = {
#define KILN_LSP_REQUEST(method, function) {method, &function, false},
#define KILN_LSP_PULL(method, function) {method, &function, true},
#include "client/lsp/features/methods.def"
};

constexpr int kShownError = 1;  // MessageType

std::string UriIn(const RpcMessage& message) {
  return TextAt(message.params, "textDocument/uri").value_or(std::string());
}

// Runs a step within the bounds of a message. What it threw as an error that can be answered: a
// stop says what was too much, anything else is a bug of kiln. Stopped is
// a std::exception as well, hence the inner try: CatchAll would call it a bug.
template <class StepOf>
std::optional<RpcError> RunStep(Clock& clock, StepOf&& step) {
  bool stopped = false;
  const Result<void> done = CatchAll([&] {
    // Every message and every slice of background work runs within one scope. What it allocates
    // through ChargeMemory and how long it takes is bounded, whatever the sources are.
    const StopScope scope({.bytes = Server::kMessageBytes, .cpu = Server::kMessageTime}, clock);
    try {
      step();
    } catch (const Stopped&) {
      stopped = true;
    }
  });
  if (stopped) {
    return Failed("it would take more than five seconds or 256 MiB");
  }
  return done.ok() ? std::nullopt
                   : std::optional(RpcError{.code = RpcCode::kInternalError,
                                            .message = done.error().context});
}

RpcError NoMethod(const std::string& method) {
  return {.code = RpcCode::kMethodNotFound,
          .message = fmt::format("there is no method '{}'", method.substr(0, 100))};
}

}  // namespace

// Requests are read here and answered in Step, so that a cancellation that comes in the same bytes
// is seen in time.
void Server::Receive(std::string_view bytes) {
  frames_.Add(bytes);
  while (std::optional<FrameReader::Frame> frame = frames_.Next()) {
    if (!frame->error.empty()) {
      // JSON-RPC answers what cannot be read with a null id.
      Take(BadRpcMessage{
          .id = nullptr,
          .error = {.code = RpcCode::kParseError, .message = std::move(frame->error)}});
      continue;
    }
    Take(ReadMessage(frame->content));
  }
}

// A cancelled request is taken out of the queue here, so that cancelling is never behind what it
// cancels.
void Server::Take(std::variant<RpcMessage, BadRpcMessage> read) {
  if (const auto* bad = std::get_if<BadRpcMessage>(&read)) {
    Send(AnswerOf(bad->id, bad->error));
    return;
  }
  RpcMessage& message = std::get<RpcMessage>(read);
  if (message.kind == RpcMessage::Kind::kNotification && message.method == "$/cancelRequest") {
    const Json* id = Find(message.params, "id");
    // Only a request that still waits can be cancelled. The one that is being answered is finished,
    // since there is one thread and it is bounded in time.
    const auto waits = std::ranges::find_if(queue_, [&](const RpcMessage& one) {
      return one.kind == RpcMessage::Kind::kRequest && id != nullptr && one.id == *id;
    });
    if (waits != queue_.end()) {
      Send(AnswerOf(waits->id, RpcError{.code = RpcCode::kRequestCancelled,
                                        .message = "the request was cancelled"}));
      queue_.erase(waits);
    }
    return;
  }
  queue_.push_back(std::move(message));
}

bool Server::Step() {
  if (exit_code_.has_value()) {
    return false;
  }
  // One message for each step, and checks only when none waits: what the editor asks for comes
  // before diagnostics, however many programs are still to be checked.
  if (!queue_.empty()) {
    const RpcMessage message = std::move(queue_.front());
    queue_.pop_front();
    Handle(message);
    return true;
  }
  if (state_ != State::kRunning) {
    return false;
  }
  std::vector<Json> out;
  bool worked = false;
  // What the step published before it threw is sent all the same. Returning true makes the loop
  // come again for the other programs.
  const std::optional<RpcError> error = RunStep(clock_, [&] { worked = checker_.Step(out); });
  SendAll(out);
  RefreshDiagnostics();
  ShowProgress();
  if (error.has_value()) {
    checker_.Abandon();
    ShowError(fmt::format("kiln gave up a check: {}", error->message));
    return true;
  }
  return worked;
}

std::string Server::TakeOutput() { return std::exchange(output_, std::string()); }

void Server::Handle(const RpcMessage& message) {
  // A request is answered whatever happens in it, since an editor waits for each answer. A
  // notification has no answer, so what fails in one is shown to the user.
  if (message.kind == RpcMessage::Kind::kAnswer) {
    TakeAnswer(message);
    return;
  }
  if (message.kind == RpcMessage::Kind::kNotification) {
    const std::optional<RpcError> error = RunStep(clock_, [&] { Notice(message); });
    if (error.has_value()) {
      ShowError(fmt::format("{}: {}", message.method, error->message));
    }
    return;
  }
  Outcome outcome = RpcError{};
  if (std::optional<RpcError> error = RunStep(clock_, [&] { outcome = Answer(message); })) {
    outcome = std::move(*error);
  }
  Send(AnswerOf(message.id, std::move(outcome)));
  if (std::exchange(session_.variant_changed, false)) {
    RefreshVariants();
  }
}

// Whether a change of the same document waits behind the request: its answer would be about a text
// that the client no longer has.
bool Server::IsStale(const RpcMessage& request) const {
  const std::string uri = UriIn(request);
  return !uri.empty() && std::ranges::any_of(queue_, [&](const RpcMessage& one) {
    return one.kind == RpcMessage::Kind::kNotification &&
           (one.method == "textDocument/didChange" || one.method == "textDocument/didClose") &&
           UriIn(one) == uri;
  });
}

// The state machine of the protocol: initialize, then requests, then shutdown, then exit.
Outcome Server::Answer(const RpcMessage& request) {
  if (request.method == "initialize") {
    return Initialize(request.params);
  }
  if (state_ == State::kNew) {
    return RpcError{.code = RpcCode::kServerNotInitialized, .message = "initialize comes first"};
  }
  if (state_ == State::kShutDown) {
    return RpcError{.code = RpcCode::kInvalidRequest, .message = "the server was shut down"};
  }
  if (request.method == "shutdown") {
    state_ = State::kShutDown;
    return Json(nullptr);
  }
  const auto row = std::ranges::find(kMethods, request.method, &MethodRow::method);
  if (row == std::end(kMethods)) {
    return NoMethod(request.method);
  }
  // Asked before any work is done, for every method alike.
  if (IsStale(request)) {
    return RpcError{.code = RpcCode::kContentModified,
                    .message = "the document changed behind the request"};
  }
  if (row->pulls) {
    CheckNow(UriIn(request));
  }
  // A command that leaves something open is answered at once, and the question goes to the client
  // as a request of its own. The command would otherwise block the one thread until somebody chose.
  if (request.method == "workspace/executeCommand" && session_.abilities.show_choices) {
    const Json* arguments = Find(request.params, "arguments");
    if (TextAt(request.params, "command") == "kiln.chooseVariant" && arguments != nullptr &&
        arguments->is_array() && !arguments->empty() && NeedsChoice(arguments->front())) {
      AskForChoice(arguments->front());
      return Json(nullptr);
    }
  }
  return row->handler(session_, request.params);
}

// A pull without a document is about all of them, and from then on the checker looks at all.
void Server::CheckNow(const std::string& uri) {
  if (uri.empty()) {
    checker_.WatchWorkspace();
    return;
  }
  const std::string path = Documents::NameOf(uri);
  session_.reports.MarkAsked(path);
  std::vector<Json> out;
  checker_.CheckNow(path, out);
  SendAll(out);
}

// At most one refresh is under way: a client that is slow to ask again is not flooded, and whatever
// changes until it answers is one more refresh.
void Server::RefreshDiagnostics() {
  if (session_.abilities.pull_diagnostics && !refresh_.has_value() && session_.reports.TakeNews()) {
    refresh_ = next_request_;
    Send(RequestOf(next_request_++, "workspace/diagnostic/refresh", nullptr));
  }
}

void Server::ShowProgress() {
  if (session_.abilities.progress) {
    std::vector<Json> out;
    progress_.Update(checker_.waiting(), out);
    SendAll(out);
  }
}

// Settings that the client chooses once are stored here and do not change afterwards.
Outcome Server::Initialize(const Json& params) {
  if (state_ != State::kNew) {
    return RpcError{.code = RpcCode::kInvalidRequest, .message = "initialize comes once"};
  }
  if (!params.is_object()) {
    return InvalidParams("initialize has parameters");
  }
  session_.encoding = ChooseEncoding(params);
  session_.abilities = AbilitiesOf(params);
  const Json* folders = Find(params, "workspaceFolders");
  std::vector<std::string> uris;
  // `rootUri` is what older clients send in place of folders. A URI that names no path of this
  // machine has no root here.
  if (folders != nullptr && folders->is_array()) {
    for (const Json& folder : *folders) {
      uris.push_back(TextAt(folder, "uri").value_or(std::string()));
    }
  } else {
    uris.push_back(TextAt(params, "rootUri").value_or(std::string()));
  }
  for (const std::string& uri : uris) {
    if (const std::optional<std::string> path = PathOf(uri)) {
      session_.analysis.workspace().AddRoot(*path);
    }
  }
  state_ = State::kRunning;
  return InitializeResult(session_, version_);
}

// Notifications before initialize and after shutdown are ignored, as the protocol asks; `exit`
// counts always.
void Server::Notice(const RpcMessage& notification) {
  const std::string& method = notification.method;
  if (method == "exit") {
    // The protocol's exit status tells whether `shutdown` came first.
    exit_code_ = state_ == State::kShutDown ? 0 : 1;
    return;
  }
  if (state_ != State::kRunning) {
    return;
  }
  if (method == "window/workDoneProgress/cancel") {
    if (progress_.IsCancel(notification.params)) {
      checker_.GiveUp();
      ShowProgress();
    }
    return;
  }
  // A manifest may have been made, or have come back, since its folder was looked at. Not every
  // client tells of files, so whatever comes from one is a reason to look again.
  session_.analysis.workspace().ForgetFolders();
  const std::string path = Documents::NameOf(UriIn(notification));
  std::optional<RpcError> error;
  if (method == "textDocument/didOpen") {
    error = session_.documents().Open(notification.params);
  } else if (method == "textDocument/didChange") {
    error = session_.documents().Change(notification.params, session_.encoding);
  } else if (method == "textDocument/didClose") {
    error = session_.documents().Close(notification.params);
    if (error.has_value()) {
      ShowError(error->message);
      return;
    }
    checker_.Close(path);
    checker_.TouchOpenFiles();  // from now on the file of the disk counts
    return;
  } else if (method == "textDocument/didSave" || method == "workspace/didChangeWatchedFiles") {
    // Times of files have a granularity: a save within one tick of the last read would go unseen.
    session_.documents().ForgetFiles();
    checker_.TouchOpenFiles();
    return;
  } else {
    return;  // others are none of kiln's business
  }
  if (error.has_value()) {
    ShowError(error->message);
    return;
  }
  checker_.Touch(path);
}

void Server::RefreshVariants() {
  checker_.TouchOpenFiles();
  // Answers to these requests have nothing to say and are dropped by TakeAnswer, which knows only
  // questions.
  const auto refresh = [&](bool can, std::string_view method) {
    if (can) {
      Send(RequestOf(next_request_++, method, nullptr));
    }
  };
  refresh(session_.abilities.refresh_lenses, "workspace/codeLens/refresh");
  refresh(session_.abilities.refresh_tokens, "workspace/semanticTokens/refresh");
  refresh(session_.abilities.refresh_hints, "workspace/inlayHint/refresh");
}

// A list to choose from is a question to the client; its answer names a title, which is a value or
// leads to the next list.
void Server::AskForChoice(const Json& arguments) {
  constexpr size_t kMaxQuestions = 16;
  std::optional<ChoiceList> choice = ChoicesOf(session_, arguments);
  if (!choice.has_value()) {
    return;
  }
  Json actions = Json::array();
  for (const std::string& title : choice->titles) {
    actions.push_back({{"title", title}});
  }
  // A client that never answers loses the oldest question; an answer to it is ignored then.
  if (questions_.size() >= kMaxQuestions) {
    questions_.erase(questions_.begin());
  }
  questions_.push_back({.id = next_request_, .arguments = arguments});
  Send(RequestOf(next_request_++, "window/showMessageRequest",
                 {{"type", 3}, {"message", choice->question}, {"actions", std::move(actions)}}));
}

// Answers to refreshes and to questions that were dropped are met here as well and are ignored.
void Server::TakeAnswer(const RpcMessage& answer) {
  if (refresh_.has_value() && answer.id == *refresh_) {
    refresh_.reset();
    RefreshDiagnostics();
    return;
  }
  std::vector<Json> out;
  if (progress_.Take(answer, out)) {
    SendAll(out);
    return;
  }
  const auto question =
      std::ranges::find_if(questions_, [&](const Question& one) { return answer.id == one.id; });
  if (question == questions_.end()) {
    return;
  }
  Json arguments = std::move(question->arguments);
  questions_.erase(question);
  const std::optional<std::string> title = TextAt(answer.params, "title");
  if (!title.has_value()) {
    return;  // nothing was chosen
  }
  const std::optional<RpcError> error = RunStep(clock_, [&] {
    // Choosing an option leads to the question for its value, choosing a value ends it.
    AddChoice(session_, *title, arguments);
    if (NeedsChoice(arguments)) {
      AskForChoice(arguments);
      return;
    }
    // What was chosen may be gone by now.
    const Outcome outcome =
        ExecuteCommand(session_, {{"command", "kiln.chooseVariant"}, {"arguments", {arguments}}});
    if (const auto* const failed = std::get_if<RpcError>(&outcome)) {
      ShowError(failed->message);
    }
  });
  if (error.has_value()) {
    ShowError(error->message);
  }
  if (std::exchange(session_.variant_changed, false)) {
    RefreshVariants();
  }
}

void Server::ShowError(const std::string& text) {
  Send(NotificationOf("window/showMessage", {{"type", kShownError}, {"message", text}}));
}

// Appended only: the caller writes the output when it can.
void Server::Send(const Json& json) { output_ += FrameOf(Dump(json)); }

void Server::SendAll(std::vector<Json>& messages) {
  for (const Json& message : messages) {
    Send(message);
  }
  messages.clear();
}

}  // namespace kiln::lsp
