// SPDX-License-Identifier: MIT
// Certificates for tests of TLS, made with OpenSSL on the spot: an authority, and what it signs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace kiln {

// PEM texts.
struct CertificateFiles {
  std::string cert;
  std::string key;
};

// The same key behind a pass phrase.
std::string ProtectedKey(const std::string& key, const std::string& phrase);

class Authority {
 public:
  explicit Authority(const std::string& name);
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  std::string cert() const;
  // For localhost and 127.0.0.1; valid from an hour ago for `seconds` from now, which may be below
  // zero.
  CertificateFiles Sign(const std::string& name, int64_t seconds = 3600);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace kiln
