// SPDX-License-Identifier: MIT
// Private keys of packs: making, reading and signing, with OpenSSL. A private key is in memory only
// as long as the object lives; OpenSSL clears it when it is freed. The other users of OpenSSL are
// those of TLS.
#include "cache/pack/signing/signing_key.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "compiler/base/check.h"

namespace kiln::pack {
namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Free>;
using ContextPtr = std::unique_ptr<EVP_MD_CTX, Free>;
using BioPtr = std::unique_ptr<BIO, Free>;

constexpr size_t kMaxPemBytes = size_t{64} << 10;

// Nobody is asked for a password: a key that has one is refused.
int NoPassword(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

Error NoSigningKey(std::string_view what) {
  ERR_clear_error();
  return NoKey(what);
}

// Other kinds of keys would sign as well, and no reader of packs could check it.
bool IsEd25519(const KeyPtr& key) {
  return key != nullptr && EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_ED25519;
}

BioPtr Reader(std::string_view text) {
  // OpenSSL takes sizes as int; a file that long is no key.
  return BioPtr(text.size() > kMaxPemBytes
                    ? nullptr
                    : BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size <= 0 ? std::string() : std::string(data, static_cast<size_t>(size));
}

// The callback for the password refuses, so a protected key fails at once instead of asking the
// terminal.
KeyPtr ReadPrivate(std::string_view pem) {
  const BioPtr bio = Reader(pem);
  return KeyPtr(bio == nullptr ? nullptr
                               : PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr));
}

PublicKey PublicOf(const EVP_PKEY* key) {
  PublicKey out;
  size_t size = out.bytes.size();
  KILN_CHECK(EVP_PKEY_get_raw_public_key(key, out.bytes.data(), &size) == 1 &&
             size == out.bytes.size());
  return out;
}

const unsigned char* Data(ByteView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// OpenSSL keeps errors for each thread. What is left there would be told with the next failure of
// somebody else.
Error Failed(std::string_view what) {
  ERR_clear_error();
  return {.code = ErrorCode::kInternal, .context = std::string(what) + " failed", .reason = {}};
}

}  // namespace

SigningKey::SigningKey(std::shared_ptr<evp_pkey_st> key)
    : key_(std::move(key)), public_key_(PublicOf(key_.get())) {}

Result<SigningKey> SigningKey::Generate() {
  KeyPtr key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (key == nullptr) {
    return Failed("making a key");
  }
  return SigningKey(std::shared_ptr<evp_pkey_st>(std::move(key)));
}

Result<SigningKey> SigningKey::FromPem(std::string_view pem) {
  KeyPtr key = ReadPrivate(pem);
  if (!IsEd25519(key)) {
    return NoSigningKey("private key");
  }
  return SigningKey(std::shared_ptr<evp_pkey_st>(std::move(key)));
}

std::string SigningKey::Pem() const {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  // Without a password: the key is used by machines that build, and its file has mode 0600.
  KILN_CHECK(bio != nullptr && PEM_write_bio_PKCS8PrivateKey(bio.get(), key_.get(), nullptr,
                                                             nullptr, 0, nullptr, nullptr) == 1);
  return TextOf(bio.get());
}

// Ed25519 has no random part: signing the same message twice gives the same bytes, which keeps
// packs reproducible.
Result<Signature> SigningKey::Sign(ByteView message) const {
  const ContextPtr context(EVP_MD_CTX_new());
  Signature signature;
  size_t size = signature.size();
  if (context == nullptr ||
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &size, Data(message), message.size()) != 1 ||
      size != signature.size()) {
    return Failed("signing");
  }
  return signature;
}

Result<PublicKey> PublicKeyOf(std::string_view pem) {
  // A private key is accepted where a public one is asked for, as it contains it.
  if (Result<PublicKey> key = PublicKey::FromPem(pem); key.ok()) {
    return key;
  }
  KeyPtr key = ReadPrivate(pem);
  if (!IsEd25519(key)) {
    return NoSigningKey("public key");
  }
  return PublicOf(key.get());
}

}  // namespace kiln::pack
