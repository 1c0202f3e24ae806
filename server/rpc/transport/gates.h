// SPDX-License-Identifier: MIT
// What looks at the headers of every call that is not the owner's, before its request has come: who
// it is of, how many of its kind still wait, and whether it may use what gRPC answers itself. The
// owner's socket has no gate. See spec/daemon 4.7, 10, 11.2–11.4
#pragma once

#include <cstdint>
#include <memory>

#include <grpcpp/security/server_credentials.h>

#include "server/ops/access.h"
#include "server/rpc/transport/connections.h"
#include "server/rpc/transport/tls_files.h"

namespace kiln::rpc {

// TLS with a certificate on both sides; gRPC reads the files again when they change. The others
// must outlive the server. `header_list`: bytes of the headers of one call, as HTTP/2 counts them
// (name, value and 32); gRPC holds to that only once a client has acknowledged its settings, and
// lets 16 MiB through until then.
std::shared_ptr<grpc::ServerCredentials> OfTcp(const TlsFiles& files, ops::Access& access,
                                               Connections& connections, uint32_t header_list);

// For connections of one other user of this machine.
std::shared_ptr<grpc::ServerCredentials> OfNeighbour(uint32_t uid, Connections& connections,
                                                     uint32_t header_list);

}  // namespace kiln::rpc
