// SPDX-License-Identifier: MIT
// Checks certificates and keys before they are used (spec/daemon 11.3), and tells when they expire.
// OpenSSL keeps errors for each thread; they are cleared on each way out.
#include "server/rpc/transport/tls_files.h"

#include <algorithm>
#include <ctime>
#include <memory>
#include <sys/stat.h>
#include <utility>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "compiler/base/files/file.h"

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

// Seconds since 1970; 0 if the date cannot be read.
int64_t ExpiryOf(const X509& certificate) {
  std::tm parts{};
  return ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &parts) == 1 ? timegm(&parts) : 0;
}

bool HasExpired(const X509& certificate, int64_t now_s) {
  auto now = static_cast<std::time_t>(now_s);
  // 0 if one of the two is not a date: what cannot be shown to be valid is not.
  return X509_cmp_time(X509_get0_notAfter(&certificate), &now) <= 0;
}

// At least one, in the order of the file.
Result<std::vector<CertificatePtr>> CertificatesIn(const std::string& path) {
  KILN_TRY(const std::string text, ReadFile(path));
  const BioPtr bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  std::vector<CertificatePtr> certificates;
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(certificate);
  }
  ERR_clear_error();  // that of the end
  if (certificates.empty()) {
    return Wrong(path, "is no certificate in PEM");
  }
  return Result<std::vector<CertificatePtr>>(std::move(certificates));
}

// What a chain begins with.
Result<CertificatePtr> FirstCertificate(const std::string& path, int64_t now_s) {
  KILN_TRY(std::vector<CertificatePtr> certificates, CertificatesIn(path));
  if (HasExpired(*certificates[0], now_s)) {
    return Wrong(path, "is a certificate that has expired");
  }
  return Result<CertificatePtr>(std::move(certificates[0]));
}

// One that is still good is enough: a file holds old and new ones while they are renewed.
Result<TlsExpiry> ExpiryOfAuthorities(const std::string& path, int64_t now_s) {
  KILN_TRY(const std::vector<CertificatePtr> certificates, CertificatesIn(path));
  TlsExpiry last{.path = path, .expires_s = 0};
  bool good = false;
  for (const CertificatePtr& certificate : certificates) {
    good = good || !HasExpired(*certificate, now_s);
    last.expires_s = std::max(last.expires_s, ExpiryOf(*certificate));
  }
  if (!good) {
    return Wrong(path, certificates.size() == 1 ? "is a certificate that has expired"
                                                : "holds certificates that have all expired");
  }
  return last;
}

// Nobody but the daemon's user may read the key.
Result<std::string> ReadKey(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & 077) != 0) {
    return Wrong(path, "is a private key that others may read; chmod 600 it");
  }
  return ReadFile(path);
}

// OpenSSL would ask the terminal for the pass phrase of a protected key, and the daemon would wait
// for it. Notes that it was asked.
int NoPassPhrase(char* /*buffer*/, int /*size*/, int /*for_writing*/, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

// Errors: kInvalidArgument if the text is no key, or that of another certificate.
Result<void> CheckKey(const std::string& path, const std::string& text, X509& certificate,
                      const std::string& certificate_path) {
  const BioPtr bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  bool is_protected = false;
  const std::unique_ptr<EVP_PKEY, Free> key(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassPhrase, &is_protected));
  if (key == nullptr) {
    return Wrong(path, is_protected ? "is protected by a pass phrase, which nobody can be asked for"
                                    : "is no private key in PEM");
  }
  // A pair that does not fit would only be noticed by the first client, as a failed handshake
  // without a cause.
  if (X509_check_private_key(&certificate, key.get()) != 1) {
    return Wrong(path, fmt::format("is not the key of '{}'", certificate_path));
  }
  return {};
}

}  // namespace

// gRPC says little about files that it cannot use, and says it at the first handshake. So
// everything is looked at here, before the daemon listens.
Result<TlsSummary> CheckTlsFiles(const TlsFiles& files, int64_t now_s) {
  for (const std::string* path : {&files.cert, &files.key, &files.client_ca}) {
    if (path->empty()) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context = "listen.tcp needs tls.cert, tls.key and tls.client_ca",
                   .reason = "TLS"};
    }
  }
  KILN_TRY(const CertificatePtr certificate, FirstCertificate(files.cert, now_s));
  KILN_TRY(const TlsExpiry authorities, ExpiryOfAuthorities(files.client_ca, now_s));
  KILN_TRY(const std::string key, ReadKey(files.key));
  KILN_TRY_VOID(CheckKey(files.key, key, *certificate, files.cert));
  TlsSummary summary{.subject = {},
                     .expires_s = ExpiryOf(*certificate),
                     .files = {{files.cert, ExpiryOf(*certificate)}, authorities}};
  char name[256];
  if (X509_NAME_oneline(X509_get_subject_name(certificate.get()), name, sizeof name) != nullptr) {
    summary.subject = name;
  }
  return summary;
}

Result<std::vector<TlsExpiry>> CheckUpstreamTls(const UpstreamTlsFiles& files, int64_t now_s) {
  std::vector<TlsExpiry> expiries;
  if (!files.ca.empty()) {
    KILN_TRY(TlsExpiry authorities, ExpiryOfAuthorities(files.ca, now_s));
    expiries.push_back(std::move(authorities));
  }
  if (!files.cert.empty()) {
    KILN_TRY(const CertificatePtr certificate, FirstCertificate(files.cert, now_s));
    KILN_TRY(const std::string key, ReadKey(files.key));
    KILN_TRY_VOID(CheckKey(files.key, key, *certificate, files.cert));
    expiries.push_back({files.cert, ExpiryOf(*certificate)});
  }
  return expiries;
}

}  // namespace kiln::rpc
