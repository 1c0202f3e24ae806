// SPDX-License-Identifier: MIT
// Against OpenSSL, which takes a little more: keys and signatures in forms that are not canonical.
#include "cache/pack/signing/ed25519.h"

#include <random>
#include <string>

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include "cache/pack/signing/signing_key.h"

namespace kiln::pack {
namespace {

bool OpenSslTakes(const PublicKey& key, ByteView message, const Signature& signature) {
  EVP_PKEY* const handle =
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.bytes.data(), key.bytes.size());
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  const bool taken =
      handle != nullptr && EVP_DigestVerifyInit(context, nullptr, nullptr, nullptr, handle) == 1 &&
      EVP_DigestVerify(context, signature.data(), signature.size(),
                       reinterpret_cast<const unsigned char*>(message.data()), message.size()) == 1;
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(handle);
  return taken;
}

TEST(Ed25519, SignaturesOfOpenSsl_AreTakenForTheirMessageAndKey) {
  const SigningKey other = SigningKey::Generate().value();
  for (size_t size = 0; size < 300; size += 13) {
    const SigningKey key = SigningKey::Generate().value();
    const std::string message(size, 'm');
    const Signature signature = key.Sign(AsBytes(message)).value();
    EXPECT_TRUE(IsEd25519Signature(key.public_key().bytes, AsBytes(message), signature)) << size;
    EXPECT_FALSE(IsEd25519Signature(key.public_key().bytes, AsBytes(message + "m"), signature));
    EXPECT_FALSE(IsEd25519Signature(other.public_key().bytes, AsBytes(message), signature));
  }
}

TEST(Ed25519, DamagedSignaturesAndKeys_AreJudgedAsByOpenSsl) {
  std::mt19937 random(9);
  const SigningKey key = SigningKey::Generate().value();
  const ByteView message = AsBytes("message");
  const Signature signature = key.Sign(message).value();
  for (int round = 0; round < 400; ++round) {
    Signature damaged = signature;
    PublicKey of = key.public_key();
    if (round % 2 == 0) {
      damaged[random() % damaged.size()] ^= static_cast<uint8_t>(1U << random() % 8);
    } else {
      of.bytes[random() % of.bytes.size()] ^= static_cast<uint8_t>(1U << random() % 8);
    }
    EXPECT_EQ(IsEd25519Signature(of.bytes, message, damaged), OpenSslTakes(of, message, damaged));
  }
}

// Adding the order of the base point to S leaves the equation true; who allows it has two
// signatures.
TEST(Ed25519, LargeS_IsRefused) {
  constexpr std::array<uint8_t, 32> kOrder = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58,
                                              0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
                                              0,    0,    0,    0,    0,    0,    0,    0,
                                              0,    0,    0,    0,    0,    0,    0,    0x10};
  const SigningKey key = SigningKey::Generate().value();
  Signature signature = key.Sign(AsBytes("message")).value();
  uint32_t carry = 0;
  for (size_t i = 0; i < kOrder.size(); ++i) {
    carry += signature[32 + i] + kOrder[i];
    signature[32 + i] = static_cast<uint8_t>(carry);
    carry >>= 8;
  }
  EXPECT_FALSE(IsEd25519Signature(key.public_key().bytes, AsBytes("message"), signature));
}

TEST(Ed25519, KeysOutsideTheCurveOrTheirForm_AreRefused) {
  const Signature nothing{};
  std::array<uint8_t, 32> key{};
  key[0] = 2;  // no point has this y
  EXPECT_FALSE(IsEd25519Signature(key, AsBytes("message"), nothing));
  key.fill(0xff);  // y is p + 18, with a sign
  EXPECT_FALSE(IsEd25519Signature(key, AsBytes("message"), nothing));
  key.fill(0);
  key[0] = 1;
  key[31] = 0x80;  // x is zero, and odd
  EXPECT_FALSE(IsEd25519Signature(key, AsBytes("message"), nothing));
}

// RFC 8032 §7.1, test 2.
TEST(Ed25519, VectorOfTheStandard_IsTaken) {
  const auto bytes = [](std::string_view hex, auto out) {
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<uint8_t>(std::stoul(std::string(hex.substr(2 * i, 2)), nullptr, 16));
    }
    return out;
  };
  const auto key = bytes("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
                         std::array<uint8_t, 32>{});
  const auto signature = bytes(
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
      "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
      Signature{});
  EXPECT_TRUE(IsEd25519Signature(key, AsBytes("\x72"), signature));
  EXPECT_FALSE(IsEd25519Signature(key, AsBytes("\x73"), signature));
}

}  // namespace
}  // namespace kiln::pack
