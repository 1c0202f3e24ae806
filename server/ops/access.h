// SPDX-License-Identifier: MIT
// Who may call what: (transport, token) and the scope that a method needs -> who it is, or a
// refusal that names the scope. Peers that guess are paused. Spec: daemon §11.2, §11.4
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"
#include "server/ops/audit_log.h"
#include "server/ops/tokens.h"

namespace kiln::ops {

enum class Transport : uint8_t {
  kOwner,      // unix socket, the uid of the daemon: admin
  kNeighbour,  // unix socket, a uid of security.allow_uids: write
  kTcp,        // a verified client certificate; the token decides
};

// "unix:uid=1001"
std::string NeighbourName(uint32_t uid);

struct Caller {
  Transport transport = Transport::kTcp;
  std::string peer;     // address; of a neighbour NeighbourName
  std::string subject;  // of the certificate
  std::string bearer;   // token, empty if there is none
};

struct Principal {
  Scope scope = Scope::kRead;
  std::string token;   // id, empty on a unix socket
  std::string tenant;  // "" is the daemon's user
  // Names the principal among all others: "owner", "unix:uid=1001", "tenant:studio", "token:623e…".
  // Those of one tenant are one.
  std::string id;
};

// Safe from any thread.
class Access {
 public:
  static constexpr uint32_t kMostFailures = 10;  // of one peer in a minute
  static constexpr Duration kPause = std::chrono::seconds(60);

  // All must outlive it; no book: nobody comes in by TCP. No audit log: nothing is written.
  Access(TokenBook* book, Clock& clock, AuditLog* audit)
      : book_(book), clock_(clock), audit_(audit) {}

  // Who it is. Errors: kUnauthenticated with reason NO_TOKEN.
  Result<Principal> Identify(const Caller& caller, std::string_view method);
  // Errors: kPermissionDenied with reason SCOPE, naming the scope that is needed.
  static Result<void> Check(const Principal& principal, std::string_view method, Scope needed);
  // Both.
  Result<Principal> Permit(const Caller& caller, std::string_view method, Scope needed);

  uint64_t failures();  // of authentication, ever
  void AddFailure(const Caller& caller, std::string_view method, std::string_view what);

 private:
  struct Failures {
    Duration since{};
    uint32_t count = 0;
    Duration paused_until{};
  };
  Result<Principal> PrincipalOf(const Caller& caller);
  bool IsPaused(const std::string& host);

  TokenBook* const book_;
  Clock& clock_;
  AuditLog* const audit_;
  Mutex mutex_;
  std::map<std::string, Failures, std::less<>> failures_ KILN_GUARDED_BY(mutex_);  // by host
  uint64_t failed_ KILN_GUARDED_BY(mutex_) = 0;
};

}  // namespace kiln::ops
