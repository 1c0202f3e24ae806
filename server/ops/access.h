// SPDX-License-Identifier: MIT
// Who may call what: (transport, token) and the scope that a method needs -> who it is, or a
// refusal that names the scope. Parties that guess are paused, and nobody else with them.
// See spec/daemon 11.2, 11.4
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"
#include "server/ops/audit_log.h"
#include "server/ops/line_quota.h"
#include "server/ops/party.h"
#include "server/ops/party_table.h"
#include "server/ops/token_book.h"
#include "server/ops/tokens.h"

namespace kiln::ops {

enum class Transport : uint8_t {
  kOwner,      // unix socket, the uid of the daemon: admin
  kNeighbour,  // unix socket, a uid of security.allow_uids: write
  kTcp,        // a verified client certificate; the token decides
};

struct Caller {
  Transport transport = Transport::kTcp;
  std::optional<uint32_t> uid;  // of a neighbour
  std::string peer;             // address
  std::string subject;          // of the certificate
  std::string bearer;           // token, empty if there is none
};

struct Principal {
  Scope scope = Scope::kRead;
  std::string token;   // id, empty on a unix socket
  std::string tenant;  // whose share of the lanes it uses; "" is the owner, and nobody else
  // Names the principal among all others: "owner", "unix:uid=1001", "tenant:studio", "token:623e…".
  // Those of one tenant are one.
  std::string id;
  Party party;
};

// Safe from any thread.
class Access {
 public:
  static constexpr uint32_t kMostFailures = 10;  // of one party in a minute
  static constexpr Duration kPause = std::chrono::seconds(60);
  static constexpr size_t kMostParties = 10'000;  // whose failures are remembered

  // All must outlive it; no book: nobody comes in by TCP. No audit log: nothing is written.
  Access(TokenBook* book, Clock& clock, AuditLog* audit, LogSink& log)
      : book_(book), clock_(clock), audit_(audit), log_(log) {}

  // Who it is. Errors: kUnauthenticated with reason NO_TOKEN.
  Result<Principal> Identify(const Caller& caller, std::string_view method);
  // Errors: kPermissionDenied with reason SCOPE, naming the scope that is needed.
  static Result<void> Check(const Principal& principal, std::string_view method, Scope needed);
  // Both.
  Result<Principal> Permit(const Caller& caller, std::string_view method, Scope needed);

  // Who stands behind a call, whether its secret is right or not: with a token that is known its
  // certificate and that token, else the certificate.
  Party PartyOf(const Caller& caller);

  // Tells, as often as the party may be told of, that a connection of it was not let in or closed:
  // nobody of that name may come (which is a failure of authentication), there is no room, or it
  // sent more than calls explain.
  enum class RefusalCause : uint8_t { kStranger, kNoRoom, kFlood };
  void RefuseConnection(const Party& party, RefusalCause why);

  uint64_t failures();           // of authentication, ever
  size_t remembered_failures();  // parties

 private:
  struct Failures {
    Duration since{};
    uint32_t count = 0;
    Duration paused_until{};
    std::string last;  // why it failed the last time; what PrincipalOf says is short
  };
  Result<Principal> PrincipalOf(const Caller& caller);
  // Why the party failed before it was paused; nothing if it is not.
  std::optional<std::string> WhyPaused(const Party& party);
  void AddFailure(const Party& party, const std::string& why);
  void Tell(const Party& party, const AuditLine& line);

  TokenBook* const book_;
  Clock& clock_;
  AuditLog* const audit_;
  LogSink& log_;
  Mutex mutex_;
  PartyTable<Failures> failures_ KILN_GUARDED_BY(mutex_){kMostParties};
  LineQuota log_quota_ KILN_GUARDED_BY(mutex_){AuditLog::kRefusals};  // without an audit log
  uint64_t failed_ KILN_GUARDED_BY(mutex_) = 0;
};

}  // namespace kiln::ops
