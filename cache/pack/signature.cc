// SPDX-License-Identifier: MIT
// Public keys of packs as PEM, and the check of a signature. Nothing of OpenSSL is needed here, so
// an engine that only reads packs does not link it.
#include "cache/pack/signature.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "cache/pack/signing/ed25519.h"

namespace kiln::pack {
namespace {

constexpr std::string_view kBegin = "-----BEGIN PUBLIC KEY-----";
constexpr std::string_view kEnd = "-----END PUBLIC KEY-----";
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr size_t kMaxPemBytes = size_t{64} << 10;

// A SubjectPublicKeyInfo of Ed25519 is these bytes and the key (RFC 8410 §4).
constexpr std::array<uint8_t, 12> kHead = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
                                           0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
using KeyInfo = std::array<uint8_t, kHead.size() + 32>;
// Fifteen groups of three bytes make 60 digits: a key never needs more.
constexpr size_t kKeyInfoDigits = (sizeof(KeyInfo) + 2) / 3 * 4;

std::string Base64(const KeyInfo& info) {
  std::string text;
  for (size_t i = 0; i < info.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < info.size() ? info[i + k] : 0U);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += i + k > info.size() ? '=' : kDigits[group >> (18 - 6 * k) & 63];
    }
  }
  return text;
}

// Exactly one key info, written in the one way that base64 has for it; blanks and line ends may
// stand anywhere.
std::optional<KeyInfo> FromBase64(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
      digits += c;
    }
    // Nothing longer can be a key, however long the file is.
    if (digits.size() > kKeyInfoDigits) {
      return std::nullopt;
    }
  }
  KeyInfo info{};
  for (size_t i = 0; i < digits.size(); ++i) {
    const size_t digit = kDigits.find(digits[i]);
    if (digit == std::string_view::npos) {
      continue;  // padding, or wrong: the comparison below tells
    }
    for (size_t bit = 0; bit < 6; ++bit) {
      const size_t at = 6 * i + bit;
      if (at / 8 < info.size() && (digit >> (5 - bit) & 1) != 0) {
        info[at / 8] = static_cast<uint8_t>(info[at / 8] | (0x80U >> (at % 8)));
      }
    }
  }
  // Encoding again and comparing refuses wrong digits, wrong padding and stray bits in one step.
  return Base64(info) == digits ? std::optional(info) : std::nullopt;
}

}  // namespace

Error NoKey(std::string_view what) {
  return {.code = ErrorCode::kInvalidArgument,
          .context = "this is no " + std::string(what) +
                     " (PEM, Ed25519, without password); make one with 'kiln pack keygen'",
          .reason = "BAD_KEY"};
}

// Text in front of the key and behind it is ignored, as other readers of PEM do.
Result<PublicKey> PublicKey::FromPem(std::string_view pem) {
  const size_t begin = pem.substr(0, kMaxPemBytes).find(kBegin);
  if (begin == std::string_view::npos) {
    return NoKey("public key");
  }
  const std::string_view behind = pem.substr(begin + kBegin.size());
  const size_t end = behind.find(kEnd);
  if (end == std::string_view::npos) {
    return NoKey("public key");
  }
  const std::optional<KeyInfo> info = FromBase64(behind.substr(0, end));
  // The head says which kind of key this is; all keys of Ed25519 have the same one.
  if (!info || !std::equal(kHead.begin(), kHead.end(), info->begin())) {
    return NoKey("public key");
  }
  PublicKey key;
  std::copy(info->begin() + kHead.size(), info->end(), key.bytes.begin());
  return key;
}

std::string PublicKey::Pem() const {
  KeyInfo info{};
  std::copy(kHead.begin(), kHead.end(), info.begin());
  std::copy(bytes.begin(), bytes.end(), info.begin() + kHead.size());
  return fmt::format("{}\n{}\n{}\n", kBegin, Base64(info), kEnd);
}

Sha256Digest PublicKey::Id() const { return Sha256(std::as_bytes(std::span(bytes))); }

bool IsSignedBy(const PublicKey& key, ByteView message, const Signature& signature) {
  return IsEd25519Signature(key.bytes, message, signature);
}

}  // namespace kiln::pack
