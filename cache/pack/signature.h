// SPDX-License-Identifier: MIT
// Who made a pack: Ed25519 public keys and their signatures, checked without a library of
// cryptography. Keys travel as PEM (SubjectPublicKeyInfo), as other tools make them:
// openssl pkey -pubout. Signing is signing_key.h. See spec/cache 10.4, 10.7
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"
#include "compiler/base/sha256.h"

namespace kiln::pack {

using Signature = std::array<uint8_t, 64>;

struct PublicKey {
  std::array<uint8_t, 32> bytes{};

  // Errors: kInvalidArgument, BAD_KEY, unless the text is the PEM of an Ed25519 public key; what
  // stands before and behind it is skipped. Private keys: PublicKeyOf of signing_key.h.
  static Result<PublicKey> FromPem(std::string_view pem);
  std::string Pem() const;
  // SHA-256 of the bytes: names the key in a pack.
  Sha256Digest Id() const;

  friend bool operator==(const PublicKey&, const PublicKey&) = default;
};

// "this is no public key …": BAD_KEY.
Error NoKey(std::string_view what);

// False for every other message, key or signature.
bool IsSignedBy(const PublicKey& key, ByteView message, const Signature& signature);

}  // namespace kiln::pack
