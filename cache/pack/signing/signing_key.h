// SPDX-License-Identifier: MIT
// Ed25519 keys that sign packs: for tools, which link OpenSSL; who checks a signature needs only
// signature.h. Private keys travel as PEM (PKCS #8): openssl genpkey -algorithm ed25519.
// See spec/cache 10.4, 10.7
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cache/pack/signature.h"

struct evp_pkey_st;

namespace kiln::pack {

// Threads: const is safe.
class SigningKey {
 public:
  // Errors: kInternal if the system has no randomness.
  static Result<SigningKey> Generate();
  // Errors: kInvalidArgument unless the text is the PEM of an Ed25519 private key without password.
  static Result<SigningKey> FromPem(std::string_view pem);

  std::string Pem() const;
  const PublicKey& public_key() const { return public_key_; }
  // The same message gives the same signature. Errors: kInternal.
  Result<Signature> Sign(ByteView message) const;

 private:
  explicit SigningKey(std::shared_ptr<evp_pkey_st> key);

  std::shared_ptr<evp_pkey_st> key_;
  PublicKey public_key_;
};

// Of the PEM of either key of a pair. Errors: kInvalidArgument, BAD_KEY.
Result<PublicKey> PublicKeyOf(std::string_view pem);

}  // namespace kiln::pack
