// SPDX-License-Identifier: MIT
// Ed25519 keys and signatures: who made a pack. Keys travel as PEM (PKCS #8 and
// SubjectPublicKeyInfo), as other tools make them: openssl genpkey -algorithm ed25519.
// See spec/cache 10.4, 10.7
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"
#include "compiler/base/sha256.h"

struct evp_pkey_st;

namespace kiln::pack {

using Signature = std::array<uint8_t, 64>;

struct PublicKey {
  std::array<uint8_t, 32> bytes{};

  // Errors: kInvalidArgument unless the text is the PEM of an Ed25519 key. A private key will do:
  // its public half is taken.
  static Result<PublicKey> FromPem(std::string_view pem);
  std::string Pem() const;
  // SHA-256 of the bytes: names the key in a pack.
  Sha256Digest Id() const;

  friend bool operator==(const PublicKey&, const PublicKey&) = default;
};

// False for every other message, key or signature.
bool IsSignedBy(const PublicKey& key, ByteView message, const Signature& signature);

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

}  // namespace kiln::pack
