// SPDX-License-Identifier: MIT
// Connections of the C interface. Every function catches what its C++ parts throw (ForeignCall) and
// leaves the outputs untouched if it fails.
#include "client/c/client.h"

#include <utility>

#include "runtime/c/foreign_call.h"
#include "runtime/c/version.h"

using namespace kiln;
using namespace kiln::c;

namespace {

// Header, this library and libkiln are of one version.
Result<void> CheckVersions(uint32_t header) {
  KILN_TRY_VOID(CheckVersion(header));
  return CheckVersion(kiln_version_number());
}

Result<client::Endpoint> TakeEndpoint(const kiln_client_info& info) {
  client::Endpoint endpoint;
  KILN_TRY(endpoint.address, TakeText(info.address, "info.address"));
  KILN_TRY(endpoint.token_file, TakeText(info.token_file, "info.token_file"));
  KILN_TRY(endpoint.tls_ca, TakeText(info.tls_ca, "info.tls_ca"));
  KILN_TRY(endpoint.tls_cert, TakeText(info.tls_cert, "info.tls_cert"));
  KILN_TRY(endpoint.tls_key, TakeText(info.tls_key, "info.tls_key"));
  // The default is the socket of this user's daemon, the same that the command line uses.
  if (endpoint.address.empty()) {
    const std::string socket = client::DefaultSocket();
    if (socket.empty()) {
      return Error{ErrorCode::kFailedPrecondition,
                   "the environment names no folder of this user; say where the daemon is", ""};
    }
    endpoint.address = "unix:" + socket;
  }
  return endpoint;
}

}  // namespace

kiln_result kiln_client_connect(const kiln_client_info* info, kiln_client** client,
                                kiln_error** error) {
  return ForeignCall(error, [&]() -> Result<void> {
    KILN_TRY(const kiln_client_info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(client, "client"));
    KILN_TRY_VOID(CheckVersions(given.header_version));
    KILN_TRY_VOID(CheckNumber(given.autostart, 1, "info.autostart"));
    KILN_TRY(const client::Endpoint endpoint, TakeEndpoint(given));
    auto made = std::make_unique<kiln_client>();
    const auto autostart = given.autostart != 0 ? client::Autostart::kYes : client::Autostart::kNo;
    KILN_TRY(client::DaemonConnection connection, client::Connect(endpoint, autostart));
    made->connection = std::make_shared<client::DaemonConnection>(std::move(connection));
    constexpr std::string_view kUnix = "unix:";
    // A daemon of this machine can be started again when it went away later; one behind TCP cannot.
    if (given.autostart != 0 && endpoint.address.starts_with(kUnix)) {
      const std::string socket = endpoint.address.substr(kUnix.size());
      made->start_daemon = [socket] { (void)client::StartDaemon(socket); };  // the attempt tells
    }
    // Ownership passes as the last step, when nothing can fail any more, so a call that fails
    // leaves the caller's pointer as it was.
    *client = made.release();
    return {};
  });
}

kiln_text kiln_client_daemon_version(const kiln_client* client) {
  return client == nullptr ? kiln_text{} : TextOf(client->connection->info.version);
}

void kiln_client_destroy(kiln_client* client) { ForeignDestroy(client); }
