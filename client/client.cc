// SPDX-License-Identifier: MIT
// The client is one connection with the calls of all services on it, each service in a class of its
// own. No call has state of its own, so threads may share a client.
#include "client/client.h"

#include <utility>

#include "client/connection.h"

namespace kiln::client {

// The bases keep references to the connection. It stays where it is when the pointer moves behind
// them.
Client::Client(std::unique_ptr<Connection> connection)
    : CompileCalls(*connection),
      BatchCalls(*connection),
      FetchCalls(*connection),
      InspectCalls(*connection),
      CacheCalls(*connection),
      OperatorCalls(*connection),
      connection_(std::move(connection)) {}

Client::~Client() = default;

std::unique_ptr<Client> Client::Open(const std::string& address) {
  return std::unique_ptr<Client>(new Client(Connection::Open(address)));
}

Result<std::unique_ptr<Client>> Client::OpenOwn(const std::string& address) {
  KILN_TRY(std::unique_ptr<Connection> connection, Connection::OpenOwn(address));
  return std::unique_ptr<Client>(new Client(std::move(connection)));
}

Result<std::unique_ptr<Client>> Client::Open(const Endpoint& endpoint) {
  KILN_TRY(std::unique_ptr<Connection> connection, Connection::Open(endpoint));
  return std::unique_ptr<Client>(new Client(std::move(connection)));
}

}  // namespace kiln::client
