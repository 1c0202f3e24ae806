// SPDX-License-Identifier: MIT
// The PEM files of the TCP listener, looked at before gRPC does: it would only say that a handshake
// failed. Spec: daemon §11.3
#pragma once

#include <cstdint>
#include <string>

#include "compiler/base/result.h"

namespace kiln::rpc {

struct TlsFiles {
  std::string cert;       // chain of the server
  std::string key;        // of its first certificate
  std::string client_ca;  // who signs certificates of clients
};

struct TlsSummary {
  std::string subject;    // of the server's certificate
  int64_t expires_s = 0;  // Unix
};

// Errors: FileError for a file that cannot be read; kInvalidArgument with reason TLS, naming the
// file and what is wrong with it: a certificate that has expired by `now_s` is wrong, and so is a
// key that others than its owner may read.
Result<TlsSummary> CheckTlsFiles(const TlsFiles& files, int64_t now_s);

}  // namespace kiln::rpc
