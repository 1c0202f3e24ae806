// SPDX-License-Identifier: MIT
// What gRPC itself writes to stderr, past the program that uses it.
#pragma once

namespace kiln::client {

// Nothing from now on, unless GRPC_VERBOSITY or GRPC_TRACE asks for it: what matters of it is in
// the errors of calls. For programs, before they open a client; a library leaves it to its user.
void SilenceTransport();

}  // namespace kiln::client
