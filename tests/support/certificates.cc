// SPDX-License-Identifier: MIT
#include "tests/support/certificates.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "compiler/base/check.h"

namespace kiln {
namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Free>;
using CertificatePtr = std::unique_ptr<X509, Free>;
using BioPtr = std::unique_ptr<BIO, Free>;

KeyPtr NewKey() { return KeyPtr(EVP_EC_gen("P-256")); }

std::string TextOf(const BioPtr& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

std::string PemOf(X509& certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  KILN_CHECK(PEM_write_bio_X509(bio.get(), &certificate) == 1);
  return TextOf(bio);
}

std::string PemOf(EVP_PKEY& key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  KILN_CHECK(PEM_write_bio_PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return TextOf(bio);
}

void AddExtension(X509& certificate, int kind, const char* value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
  KILN_CHECK(extension != nullptr && X509_add_ext(&certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

// Not signed yet.
CertificatePtr NewCertificate(const std::string& name, EVP_PKEY& key, int64_t seconds) {
  static long serial = 1;
  CertificatePtr certificate(X509_new());
  KILN_CHECK(X509_set_version(certificate.get(), X509_VERSION_3) == 1);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -7200);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), static_cast<long>(seconds));
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  KILN_CHECK(X509_set_pubkey(certificate.get(), &key) == 1);
  return certificate;
}

}  // namespace

struct Authority::State {
  KeyPtr key = NewKey();
  CertificatePtr certificate;
};

Authority::Authority(const std::string& name) : state_(std::make_unique<State>()) {
  state_->certificate = NewCertificate(name, *state_->key, 86'400);
  X509& certificate = *state_->certificate;
  AddExtension(certificate, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  X509_set_issuer_name(&certificate, X509_get_subject_name(&certificate));
  KILN_CHECK(X509_sign(&certificate, state_->key.get(), EVP_sha256()) != 0);
}

Authority::~Authority() = default;

std::string Authority::cert() const { return PemOf(*state_->certificate); }

CertificateFiles Authority::Sign(const std::string& name, int64_t seconds) {
  const KeyPtr key = NewKey();
  const CertificatePtr certificate = NewCertificate(name, *key, seconds);
  AddExtension(*certificate, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(state_->certificate.get()));
  KILN_CHECK(X509_sign(certificate.get(), state_->key.get(), EVP_sha256()) != 0);
  return {.cert = PemOf(*certificate), .key = PemOf(*key)};
}

std::string ProtectedKey(const std::string& key, const std::string& phrase) {
  const BioPtr in(BIO_new_mem_buf(key.data(), static_cast<int>(key.size())));
  const KeyPtr read(PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr));
  KILN_CHECK(read != nullptr);
  const BioPtr out(BIO_new(BIO_s_mem()));
  KILN_CHECK(PEM_write_bio_PKCS8PrivateKey(out.get(), read.get(), EVP_aes_256_cbc(), phrase.data(),
                                           static_cast<int>(phrase.size()), nullptr, nullptr) == 1);
  return TextOf(out);
}

}  // namespace kiln
