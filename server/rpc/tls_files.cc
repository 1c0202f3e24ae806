// SPDX-License-Identifier: MIT
#include "server/rpc/tls_files.h"

#include <ctime>
#include <memory>
#include <sys/stat.h>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "compiler/base/file.h"

namespace kiln::rpc {
namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using BioPtr = std::unique_ptr<BIO, Free>;
using CertificatePtr = std::unique_ptr<X509, Free>;

Error Wrong(const std::string& path, std::string_view what) {
  ERR_clear_error();
  return {.code = ErrorCode::kInvalidArgument,
          .context = fmt::format("'{}' {}", path, what),
          .reason = "TLS"};
}

Result<CertificatePtr> FirstCertificate(const std::string& path, int64_t now_s) {
  KILN_TRY(const std::string text, ReadFile(path));
  const BioPtr bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  CertificatePtr certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (certificate == nullptr) {
    return Wrong(path, "is no certificate in PEM");
  }
  auto now = static_cast<std::time_t>(now_s);
  // 0 if one of the two is no date: what cannot be said to hold does not.
  if (X509_cmp_time(X509_get0_notAfter(certificate.get()), &now) <= 0) {
    return Wrong(path, "is a certificate that has expired");
  }
  return Result<CertificatePtr>(std::move(certificate));
}

// Nobody but the daemon's user may read the key.
Result<std::string> ReadKey(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & 077) != 0) {
    return Wrong(path, "is a private key that others may read; chmod 600 it");
  }
  return ReadFile(path);
}

int64_t ExpiryOf(const X509& certificate) {
  std::tm parts{};
  return ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &parts) == 1 ? timegm(&parts) : 0;
}

}  // namespace

Result<TlsSummary> CheckTlsFiles(const TlsFiles& files, int64_t now_s) {
  for (const std::string* path : {&files.cert, &files.key, &files.client_ca}) {
    if (path->empty()) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context = "listen.tcp needs tls.cert, tls.key and tls.client_ca",
                   .reason = "TLS"};
    }
  }
  KILN_TRY(const CertificatePtr certificate, FirstCertificate(files.cert, now_s));
  KILN_TRY(const CertificatePtr authority, FirstCertificate(files.client_ca, now_s));
  KILN_TRY(const std::string key_text, ReadKey(files.key));
  const BioPtr bio(BIO_new_mem_buf(key_text.data(), static_cast<int>(key_text.size())));
  const std::unique_ptr<EVP_PKEY, Free> key(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  if (key == nullptr) {
    return Wrong(files.key, "is no private key in PEM");
  }
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return Wrong(files.key, fmt::format("is not the key of '{}'", files.cert));
  }
  TlsSummary summary{.subject = {}, .expires_s = ExpiryOf(*certificate)};
  char name[256];
  if (X509_NAME_oneline(X509_get_subject_name(certificate.get()), name, sizeof name) != nullptr) {
    summary.subject = name;
  }
  return summary;
}

}  // namespace kiln::rpc
