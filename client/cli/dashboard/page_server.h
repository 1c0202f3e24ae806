// SPDX-License-Identifier: MIT
// Serves the page and its API on a loopback port until it is told to stop. Only GET and HEAD, one
// request a connection, a bounded number at a time, each with a deadline. See
// docs/users/dashboard.md
#pragma once

#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <string>

#include "client/cli/dashboard/page_access.h"
#include "client/cli/dashboard/page_api.h"
#include "compiler/base/result.h"

namespace httplib {  // NOLINT(readability-identifier-naming): as its library names it
class Server;
struct Request;
struct Response;
}  // namespace httplib

namespace kiln::cli {

class PageServer {
 public:
  // Port 0: any that is free. `on_opened` is called, from any thread, each time a link was used.
  // The API outlives the server. Errors: kUnavailable if the port is taken.
  static Result<std::unique_ptr<PageServer>> Listen(uint16_t port, PageApi& api,
                                                    std::function<void()> on_opened);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  std::string NewLink() { return access_->NewLink(); }
  // Returns behind Stop; to be called once.
  void Serve();
  // From any thread, also before Serve, for which it waits: the library forgets a stop that comes
  // before it serves.
  void Stop();

 private:
  PageServer(PageApi& api, std::function<void()> on_opened);
  void AddRoutes();
  bool Refuses(const httplib::Request& request, httplib::Response& response) const;
  void Open(const httplib::Request& request, httplib::Response& response);
  void AnswerCall(const httplib::Request& request, httplib::Response& response);

  PageApi& api_;
  const std::function<void()> on_opened_;
  std::latch serving_{1};
  std::unique_ptr<httplib::Server> server_;
  std::unique_ptr<PageAccess> access_;  // once the port is known
};

}  // namespace kiln::cli
