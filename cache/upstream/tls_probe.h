// SPDX-License-Identifier: MIT
// Why no connection comes about with a daemon behind https. gRPC says only that a handshake failed;
// this makes another connection, as gRPC makes it, and says which certificate is wrong and who has
// to do what. See spec/daemon 11.3
#pragma once

#include <string>
#include <string_view>

#include "compiler/base/clock.h"
#include "compiler/base/result.h"

namespace kiln::cache::upstream {

// Paths of PEM files; empty: the authorities of the system, and no certificate of one's own.
struct TlsFiles {
  std::string ca;
  std::string cert, key;
};

// What a user calls these files: "--tls-ca", "upstream.tls_ca".
struct TlsNames {
  std::string_view ca, cert, key;
};
inline constexpr TlsNames kFlagNames{.ca = "--tls-ca", .cert = "--tls-cert", .key = "--tls-key"};
inline constexpr TlsNames kUpstreamNames{
    .ca = "upstream.tls_ca", .cert = "upstream.tls_cert", .key = "upstream.tls_key"};

// Connects to HOST:PORT and shakes hands, within `time` (without that of looking up the name), and
// ends the connection. May be called from any thread; takes the time that the network takes.
// Nothing: it works. Errors, each with what is wrong and what to do: kInvalidArgument with reason
// TLS_FILES for files that cannot be used; kUnavailable with CONNECTION if nobody answers or what
// answers does not speak TLS; kUnauthenticated with SERVER_CERTIFICATE or CLIENT_CERTIFICATE for a
// certificate that is not signed by whom it should be, is expired or missing, or is another host's.
Result<void> ProbeTls(const std::string& host_port, const TlsFiles& files, const TlsNames& names,
                      Duration time);

}  // namespace kiln::cache::upstream
