// SPDX-License-Identifier: MIT
// The PEM files of the TCP listener and of upstreams, looked at before gRPC does: it would only say
// that a handshake failed. See spec/daemon 11.3
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace kiln::rpc {

struct TlsFiles {
  std::string cert;       // chain of the server
  std::string key;        // of its first certificate
  std::string client_ca;  // who signs certificates of clients
};

// When a file has to be renewed: its first certificate, or the last of authorities.
struct TlsExpiry {
  std::string path;
  int64_t expires_s = 0;  // Unix
};

struct TlsSummary {
  std::string subject;    // of the server's certificate
  int64_t expires_s = 0;  // Unix
  std::vector<TlsExpiry> files;
};

// Errors: FileError for a file that cannot be read; kInvalidArgument with reason TLS, naming the
// file and what is wrong with it: a certificate that has expired by `now_s` is wrong, and so is a
// key that others than its owner may read.
Result<TlsSummary> CheckTlsFiles(const TlsFiles& files, int64_t now_s);

// Of [[upstream]]; empty: the authorities of the system, and no certificate of one's own.
struct UpstreamTlsFiles {
  std::string ca;    // one or more who sign certificates of the upstream
  std::string cert;  // of this daemon
  std::string key;
};

// Errors: as CheckTlsFiles; who may read the key is not looked at. Authorities are wrong if all of
// them have expired.
Result<std::vector<TlsExpiry>> CheckUpstreamTls(const UpstreamTlsFiles& files, int64_t now_s);

}  // namespace kiln::rpc
