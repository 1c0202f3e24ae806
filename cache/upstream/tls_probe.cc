// SPDX-License-Identifier: MIT
// A handshake for its own sake: it is made when a connection of gRPC failed, to find out why, and
// closed at once. It looks at the same files with the same rules as gRPC, so what it finds is what
// gRPC met. Each way to fail has one sentence that says what to do and where.
#include "cache/upstream/tls_probe.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace kiln::cache::upstream {
namespace {

using Until = std::chrono::steady_clock::time_point;

struct Free {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* tls) const { SSL_free(tls); }
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

// Four kinds of trouble, told apart by whose it is to mend: files here, the way there, the other
// side's certificate, our own.
Error BadFiles(std::string what) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(what), .reason = "TLS_FILES"};
}
Error NoConnection(std::string what) {
  return {.code = ErrorCode::kUnavailable, .context = std::move(what), .reason = "CONNECTION"};
}
Error BadServer(std::string what) {
  return {.code = ErrorCode::kUnauthenticated,
          .context = std::move(what),
          .reason = "SERVER_CERTIFICATE"};
}
Error BadClient(std::string what) {
  return {.code = ErrorCode::kUnauthenticated,
          .context = std::move(what),
          .reason = "CLIENT_CERTIFICATE"};
}

class Socket {
 public:
  explicit Socket(int number) : number_(number) {}
  ~Socket() {
    if (number_ >= 0) {
      (void)::close(number_);
    }
  }
  Socket(Socket&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

// False: the time is over.
bool WaitFor(int socket, short events, Until until) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    pollfd wait{.fd = socket, .events = events, .revents = 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::max<int64_t>(0, left.count())));
    if (ready >= 0 || errno != EINTR) {
      return ready > 0;
    }
  }
}

struct Place {
  std::string host, port;
};

// "[::1]:7411", "cache.example:7411"; without a port it is that of https.
Place PlaceOf(const std::string& host_port) {
  const size_t colon = host_port.rfind(':');
  const size_t bracket = host_port.rfind(']');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || bracket < colon);
  std::string host = host_port.substr(0, has_port ? colon : std::string::npos);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  return {.host = std::move(host), .port = has_port ? host_port.substr(colon + 1) : "443"};
}

// errno of the attempt; 0: connected.
int ConnectTo(int socket, const addrinfo& address, Until until) {
  if (::connect(socket, address.ai_addr, address.ai_addrlen) == 0) {
    return 0;
  }
  if (errno != EINPROGRESS) {
    return errno;
  }
  if (!WaitFor(socket, POLLOUT, until)) {
    return ETIMEDOUT;
  }
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

// The look-up of the name is the one step that the time does not bound: getaddrinfo knows no
// deadline.
Result<Socket> Connect(const std::string& host_port, Until until) {
  const Place place = PlaceOf(host_port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(place.host.c_str(), place.port.c_str(), &hints, &found);
      error != 0) {
    return NoConnection(fmt::format("the host '{}' is not known ({}); correct the address",
                                    place.host, ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, Free> addresses(found);
  int error = EADDRNOTAVAIL;
  // Each address in the order of the resolver; the last failure is told.
  for (const addrinfo* row = addresses.get(); row != nullptr; row = row->ai_next) {
    Socket socket(::socket(row->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    error = socket.number() < 0 ? errno : ConnectTo(socket.number(), *row, until);
    if (error == 0) {
      return socket;
    }
  }
  return NoConnection(
      error == ECONNREFUSED
          ? fmt::format("nobody listens at {}; start kilnd there with listen.tcp, or correct the "
                        "address",
                        host_port)
          : fmt::format("no connection to {}: {}; is the machine up, and does a firewall let it "
                        "through?",
                        host_port, std::strerror(error)));
}

// In UTC, so that the people on both sides read the same date.
std::string DateOf(const ASN1_TIME* time) {
  tm when{};
  return time != nullptr && ASN1_TIME_to_tm(time, &when) == 1
             ? fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", when.tm_year + 1900,
                           when.tm_mon + 1, when.tm_mday, when.tm_hour, when.tm_min)
             : std::string("a date that cannot be read");
}

// How a certificate is out of its time; empty: it is valid now.
std::string OutOfTime(const X509& certificate) {
  if (X509_cmp_current_time(X509_get0_notAfter(&certificate)) < 0) {
    return "expired on " + DateOf(X509_get0_notAfter(&certificate));
  }
  if (X509_cmp_current_time(X509_get0_notBefore(&certificate)) > 0) {
    return "is not valid before " + DateOf(X509_get0_notBefore(&certificate));
  }
  return {};
}

// OpenSSL keeps a queue of errors for each thread; the first one names the cause, later ones its
// consequences.
std::string LastError() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  return reason == nullptr ? "no PEM" : reason;
}

Result<void> CheckReadable(std::string_view name, const std::string& path) {
  return ::access(path.c_str(), R_OK) == 0
             ? Result<void>()
             : Result<void>(BadFiles(
                   fmt::format("{} '{}' cannot be read: {}", name, path, std::strerror(errno))));
}

// Each file is looked at in the order in which it is used, so the first wrong one is named, with
// the key of the configuration that names it.
Result<void> UseFiles(SSL_CTX& context, const TlsFiles& files, const TlsNames& names) {
  if (files.ca.empty()) {
    (void)SSL_CTX_set_default_verify_paths(&context);
  } else {
    KILN_TRY_VOID(CheckReadable(names.ca, files.ca));
    if (SSL_CTX_load_verify_file(&context, files.ca.c_str()) != 1) {
      return BadFiles(
          fmt::format("{} '{}' holds no certificate in PEM ({})", names.ca, files.ca, LastError()));
    }
  }
  if (files.cert.empty() != files.key.empty()) {
    return BadFiles(fmt::format("{} and {} go together: name both or none", names.cert, names.key));
  }
  if (files.cert.empty()) {
    return {};
  }
  KILN_TRY_VOID(CheckReadable(names.cert, files.cert));
  KILN_TRY_VOID(CheckReadable(names.key, files.key));
  if (SSL_CTX_use_certificate_chain_file(&context, files.cert.c_str()) != 1) {
    return BadFiles(fmt::format("{} '{}' holds no certificate in PEM ({})", names.cert, files.cert,
                                LastError()));
  }
  if (SSL_CTX_use_PrivateKey_file(&context, files.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(&context) != 1) {
    return BadFiles(fmt::format("{} '{}' holds no private key of the certificate '{}' ({})",
                                names.key, files.key, files.cert, LastError()));
  }
  return {};
}

// What became of a step of the connection: done, or how it failed.
enum class Step : uint8_t { kDone, kFailed, kTimeOver };

template <class Call>
Step Drive(SSL& tls, int socket, Until until, const Call& call) {
  for (;;) {
    ERR_clear_error();
    const int done = call();
    if (done > 0) {
      return Step::kDone;
    }
    // The socket does not block: OpenSSL says what it waits for, and the time is watched here.
    const int wants = SSL_get_error(&tls, done);
    if (wants != SSL_ERROR_WANT_READ && wants != SSL_ERROR_WANT_WRITE) {
      return Step::kFailed;
    }
    if (!WaitFor(socket, wants == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, until)) {
      return Step::kTimeOver;
    }
  }
}

// What OpenSSL tells on the way.
struct HandshakeFindings {
  bool asked_for_ours = false;
  bool is_theirs = false;   // of the certificate that is bad: the daemon's own, or who signed it
  std::string out_of_time;  // how it is

  void NoteBad(X509_STORE_CTX& verifying) {
    const X509* const bad = X509_STORE_CTX_get_current_cert(&verifying);
    is_theirs = X509_STORE_CTX_get_error_depth(&verifying) == 0;
    out_of_time = bad == nullptr ? std::string() : OutOfTime(*bad);
  }
};

HandshakeFindings& SeenBy(X509_STORE_CTX& verifying) {
  auto* const tls = static_cast<SSL*>(
      X509_STORE_CTX_get_ex_data(&verifying, SSL_get_ex_data_X509_STORE_CTX_idx()));
  return *static_cast<HandshakeFindings*>(SSL_get_app_data(tls));
}

// One attempt and what it shows. Set by Probe before the handshake; callbacks of OpenSSL have no
// other way to it.
class Probe {
 public:
  Probe(const std::string& host_port, const TlsFiles& files, const TlsNames& names)
      : host_port_(host_port), files_(files), names_(names) {}

  Result<void> Run(Until until) {
    const std::unique_ptr<SSL_CTX, Free> context(SSL_CTX_new(TLS_client_method()));
    if (context == nullptr) {
      return {};  // nothing can be found out
    }
    KILN_TRY_VOID(UseFiles(*context, files_, names_));
    constexpr std::array<unsigned char, 3> kHttp2 = {2, 'h', '2'};
    // As gRPC does; servers may refuse a client that does not offer HTTP/2.
    (void)SSL_CTX_set_alpn_protos(context.get(), kHttp2.data(), kHttp2.size());
    // The callbacks take down what happens on the way: which certificate failed and whether ours
    // was asked for. The result alone says less.
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, [](int good, X509_STORE_CTX* verifying) {
      if (good != 1) {
        SeenBy(*verifying).NoteBad(*verifying);
      }
      return good;
    });
    SSL_CTX_set_client_cert_cb(context.get(), [](SSL* tls, X509**, EVP_PKEY**) {
      static_cast<HandshakeFindings*>(SSL_get_app_data(tls))->asked_for_ours =
          true;  // and there is none
      return 0;
    });
    KILN_TRY(const Socket socket, Connect(host_port_, until));
    const std::unique_ptr<SSL, Free> tls(SSL_new(context.get()));
    if (tls == nullptr || SSL_set_fd(tls.get(), socket.number()) != 1) {
      return {};
    }
    SSL_set_app_data(tls.get(), &seen_);
    NameHost(*tls);
    const Step hands = Drive(*tls, socket.number(), until, [&] { return SSL_connect(tls.get()); });
    if (hands != Step::kDone) {
      return WhyNoHandshake(*tls, hands);
    }
    // Of TLS 1.3: whether it took our certificate shows in whether it goes on.
    char byte = 0;
    const Step said =
        Drive(*tls, socket.number(), until, [&] { return SSL_read(tls.get(), &byte, 1); });
    return said == Step::kFailed ? Result<void>(RefusedCertificate(*tls)) : Result<void>();
  }

 private:
  // Names are sent, so that a host with several certificates chooses the right one, and verified.
  void NameHost(SSL& tls) const {
    const std::string host = PlaceOf(host_port_).host;
    // An address in numbers is verified as one and is not sent as a name.
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(&tls), host.c_str()) == 1) {
      return;
    }
    (void)SSL_set_tlsext_host_name(&tls, host.c_str());
    (void)SSL_set1_host(&tls, host.c_str());
  }

  Error WhyNoHandshake(SSL& tls, Step step) const {
    const long verified = SSL_get_verify_result(&tls);
    // OpenSSL numbers alerts of the other side above this offset: such an error was decided there
    // and not here.
    const bool alert = ERR_GET_REASON(ERR_peek_error()) >= SSL_AD_REASON_OFFSET;
    if (step == Step::kTimeOver) {
      return NoConnection(fmt::format(
          "{} is connected and says nothing; is it a daemon with listen.tcp?", host_port_));
    }
    if (verified != X509_V_OK) {
      return WhyNotVerified(verified);
    }
    if (alert || seen_.asked_for_ours) {
      return RefusedCertificate(tls);
    }
    return NoConnection(
        fmt::format("what answers at {} does not speak TLS ({}); is it the address of listen.tcp?",
                    host_port_, LastError()));
  }

  Error WhyNotVerified(long verified) const {
    switch (verified) {
      case X509_V_ERR_CERT_HAS_EXPIRED:
      case X509_V_ERR_CERT_NOT_YET_VALID:
        return BadServer(fmt::format(
            "{} {} {}; it has to be renewed there (tls.cert)",
            seen_.is_theirs ? "the certificate of" : "the authority behind the certificate of",
            host_port_, seen_.out_of_time));
      case X509_V_ERR_HOSTNAME_MISMATCH:
      case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return BadServer(fmt::format(
            "the certificate of {} is another host's; use a name that it is for, or have it made "
            "for this one",
            host_port_));
      default:
        return BadServer(fmt::format(
            "the certificate of {} is not signed by {} ({}); {} names the file of the authority "
            "that signed it",
            host_port_,
            files_.ca.empty() ? std::string("an authority of this system")
                              : fmt::format("the authority in '{}'", files_.ca),
            X509_verify_cert_error_string(verified), names_.ca));
    }
  }

  // Nothing else is known of a refusal: the other side ends the connection.
  Error RefusedCertificate(SSL& tls) const {
    const X509* const ours = SSL_get_certificate(&tls);
    if (ours == nullptr) {
      return BadClient(
          fmt::format("{} takes nobody without a client certificate; name one with {} and {}",
                      host_port_, names_.cert, names_.key));
    }
    // The other side does not say why. An expired certificate is the most frequent reason and can
    // be seen from here.
    const std::string out_of_time = OutOfTime(*ours);
    return out_of_time.empty()
               ? BadClient(fmt::format(
                     "{} does not take the client certificate '{}'; it has to be signed by the "
                     "authority in its tls.client_ca",
                     host_port_, files_.cert))
               : BadClient(fmt::format("the client certificate '{}' {}; renew it", files_.cert,
                                       out_of_time));
  }

  const std::string& host_port_;
  const TlsFiles& files_;
  const TlsNames& names_;
  HandshakeFindings seen_;
};

}  // namespace

Result<void> ProbeTls(const std::string& host_port, const TlsFiles& files, const TlsNames& names,
                      Duration time) {
  return Probe(host_port, files, names)
      .Run(std::chrono::steady_clock::now() +
           std::chrono::duration_cast<std::chrono::steady_clock::duration>(time));
}

}  // namespace kiln::cache::upstream
