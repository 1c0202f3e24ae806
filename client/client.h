// SPDX-License-Identifier: MIT
// A connection to kilnd. Hides transport, retries and generated types; an unreachable daemon is a
// Result, never an exception. Calls are synchronous; one Client may be used from several threads.
// See spec/daemon 2, 4; spec/architecture 13
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "client/batch_calls.h"
#include "client/cache_calls.h"
#include "client/compile_calls.h"
#include "client/fetch_calls.h"
#include "client/inspect_calls.h"
#include "client/operator_calls.h"
#include "compiler/base/result.h"

namespace kiln::client {

// Where a daemon is, and with what to come to it. The files are for https only.
struct Endpoint {
  std::string address;     // unix:PATH or https://HOST:PORT
  std::string token_file;  // one line: kiln_<id>_<secret>
  std::string tls_ca;      // who signs the daemon's certificate; empty: those of the system
  std::string tls_cert, tls_key;
};

// How long a daemon may take to accept a connection and to say who it is: a machine that is full of
// work needs seconds. Where there is no daemon, the socket refuses at once.
inline constexpr std::chrono::milliseconds kPing{10'000};

// All groups of calls over one connection; what is said above is true of each. Who needs one group
// may take it alone.
class Client : public CompileCalls,
               public BatchCalls,
               public FetchCalls,
               public InspectCalls,
               public CacheCalls,
               public OperatorCalls {
 public:
  // address: "unix:PATH" of a socket that the caller trusts, whoever made it. Connects lazily; Ping
  // tells whether somebody is there.
  static std::unique_ptr<Client> Open(const std::string& address);
  // The same for a socket that must be of this user. Errors: kUnavailable if there is not even its
  // folder; kPermissionDenied with reason NOT_OWN or FOREIGN_SOCKET where another user could have
  // made it: nothing was sent then.
  static Result<std::unique_ptr<Client>> OpenOwn(const std::string& address);
  // DefaultSocket() is opened as this user's own, any other as it was named. Errors: as OpenOwn;
  // kInvalidArgument with reason USAGE for another address or a file that is missing.
  static Result<std::unique_ptr<Client>> Open(const Endpoint& endpoint);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Connection& connection() { return *connection_; }  // of other classes of this folder

 private:
  explicit Client(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace kiln::client
