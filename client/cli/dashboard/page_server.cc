// SPDX-License-Identifier: MIT
#include "client/cli/dashboard/page_server.h"

#include <httplib.h>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "client/cli/dashboard/page_files.h"
#include "compiler/base/text/json_row.h"

namespace kiln::cli {
namespace {

constexpr size_t kThreads = 8;
constexpr size_t kMostBody = 1024;  // of a request; none has one
constexpr time_t kPatienceSeconds = 2;
constexpr char kApi[] = "/api/v1/";

PageRequest RequestOf(const httplib::Request& request) {
  return {.host = request.get_header_value("Host"),
          .origin = request.get_header_value("Origin"),
          .fetch_site = request.get_header_value("Sec-Fetch-Site"),
          .cookie = request.get_header_value("Cookie")};
}

// What browsers are told about every answer: no script, style or picture of elsewhere, nobody
// frames the page, nothing is guessed from content, no address leaks the key of a link.
void SetHeaders(httplib::Response& response) {
  response.set_header("Content-Security-Policy",
                      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' "
                      "data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
                      "frame-ancestors 'none'");
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("Cross-Origin-Resource-Policy", "same-origin");
  response.set_header("Cross-Origin-Opener-Policy", "same-origin");
  response.set_header("Cache-Control", "no-store");
}

void Say(httplib::Response& response, int status, std::string_view text) {
  response.status = status;
  response.set_content(std::string(text) + "\n", "text/plain; charset=utf-8");
}

int StatusOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kInvalidArgument:
      return 400;
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kUnauthenticated:
      return 403;
    case ErrorCode::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

}  // namespace

PageServer::PageServer(PageApi& api, std::function<void()> on_opened)
    : api_(api), on_opened_(std::move(on_opened)), server_(std::make_unique<httplib::Server>()) {}

PageServer::~PageServer() = default;

Result<std::unique_ptr<PageServer>> PageServer::Listen(uint16_t port, PageApi& api,
                                                       std::function<void()> on_opened) {
  std::unique_ptr<PageServer> made(new PageServer(api, std::move(on_opened)));
  httplib::Server& server = *made->server_;
  // Asked for once the server runs, so from then on a stop is heard.
  server.new_task_queue = [serving = &made->serving_] {
    serving->count_down();
    return new httplib::ThreadPool(kThreads);
  };
  // The library would share the port with whoever takes it too, and requests would go to either.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    (void)setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  // A connection that is kept would keep a thread.
  server.set_keep_alive_max_count(1);
  server.set_read_timeout(kPatienceSeconds);
  server.set_write_timeout(kPatienceSeconds);
  server.set_payload_max_length(kMostBody);
  int bound = port;
  if (port == 0) {
    bound = server.bind_to_any_port("127.0.0.1");
  } else if (!server.bind_to_port("127.0.0.1", port)) {
    bound = -1;
  }
  if (bound <= 0) {
    return Error{
        .code = ErrorCode::kUnavailable,
        .context = fmt::format("cannot listen on 127.0.0.1:{}; --port 0 takes any port", port),
        .reason = "SOCKET"};
  }
  made->access_ = std::make_unique<PageAccess>(static_cast<uint16_t>(bound));
  made->AddRoutes();
  return Result<std::unique_ptr<PageServer>>(std::move(made));
}

void PageServer::AddRoutes() {
  using httplib::Request;
  using httplib::Response;
  server_->set_pre_routing_handler([this](const Request& request, Response& response) {
    SetHeaders(response);
    return Refuses(request, response) ? httplib::Server::HandlerResponse::Handled
                                      : httplib::Server::HandlerResponse::Unhandled;
  });
  server_->set_error_handler([](const Request&, Response& response) {
    if (response.body.empty()) {
      Say(response, response.status, "kiln dashboard: there is no such page");
    }
  });
  server_->set_exception_handler([](const Request&, Response& response, std::exception_ptr) {
    Say(response, 500, "internal error");
  });
  server_->Get("/open",
               [this](const Request& request, Response& response) { Open(request, response); });
  server_->Get(R"(/api/v1/([a-z]{1,20}))", [this](const Request& request, Response& response) {
    AnswerCall(request, response);
  });
  for (const PageFile& file : PageFiles()) {
    server_->Get(std::string(file.path), [&file](const Request&, Response& response) {
      response.set_content(file.text.data(), file.text.size(), std::string(file.type));
    });
  }
}

// Whether a request gets no further. The page itself is behind the cookie, too: what is compiled in
// is no secret, yet a stranger's browser has no use for it.
bool PageServer::Refuses(const httplib::Request& request, httplib::Response& response) const {
  if (request.method != "GET" && request.method != "HEAD") {
    Say(response, 405, "only GET");
    return true;
  }
  const PageRequest asker = RequestOf(request);
  if (request.path ==
      "/open") {  // by a link in a terminal, a mail or a chat: any site's navigation
    return false;
  }
  switch (access_->Judge(asker)) {
    case PageVerdict::kServed:
      return false;
    case PageVerdict::kForeign:
      Say(response, 403, "this address is for pages of kiln dashboard alone");
      return true;
    case PageVerdict::kNoCookie:
      Say(response, 401, "open the link that kiln dashboard has printed");
      return true;
  }
  return true;
}

void PageServer::Open(const httplib::Request& request, httplib::Response& response) {
  if (!access_->Open(request.get_param_value("key"))) {
    Say(response, 403, "this link was used or is of another run; kiln dashboard prints a new one");
    return;
  }
  response.set_header("Set-Cookie", access_->Cookie());
  response.set_redirect("/", 303);
  on_opened_();
}

void PageServer::AnswerCall(const httplib::Request& request, httplib::Response& response) {
  Result<PageApi::Json> answer = api_.Answer(request.matches[1], request.params);
  PageApi::Json json;
  if (answer.ok()) {
    json = std::move(answer).value();
  } else {
    response.status = StatusOf(answer.error());
    json = {{"error", answer.error().context}, {"reason", answer.error().reason}};
  }
  response.set_content(JsonLine(json), "application/json");
}

void PageServer::Serve() { (void)server_->listen_after_bind(); }

void PageServer::Stop() {
  serving_.wait();
  server_->stop();
}

}  // namespace kiln::cli
