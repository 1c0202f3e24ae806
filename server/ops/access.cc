// SPDX-License-Identifier: MIT
// Who a caller is and what he may do (spec/daemon 11.4). The transport tells the first part: the
// owner by his uid, a neighbour by his, everybody else by token and certificate. Any thread asks;
// the mutex guards the failures.
#include "server/ops/access.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace kiln::ops {
namespace {

// Ten failures in this time are a party that guesses. See spec/daemon 11.4
constexpr Duration kWindow = std::chrono::minutes(1);

}  // namespace

// The text is the reason of the last failure before the pause.
std::optional<std::string> Access::WhyPaused(const Party& party) {
  const MutexLock lock(mutex_);
  const Failures* const found = failures_.Find(party.name());
  const bool is_paused = found != nullptr && clock_.Monotonic() < found->paused_until;
  return is_paused ? std::optional(found->last) : std::nullopt;
}

// The window begins with the first failure and does not slide: a party may fail almost twice as
// often around its edge, which is as hopeless against 256 bits. After a pause counting starts anew.
void Access::AddFailure(const Party& party, const std::string& why) {
  const Duration now = clock_.Monotonic();
  const MutexLock lock(mutex_);
  ++failed_;
  Failures& row = failures_.At(party.name());
  if (row.count == 0 || now - row.since >= kWindow) {
    row = {.since = now, .count = 0, .paused_until = row.paused_until, .last = {}};
  }
  if (++row.count >= kMostFailures) {
    row = {.since = now, .count = 0, .paused_until = now + kPause, .last = {}};
  }
  row.last = why;
}

// Logged at info: warnings are kept for the operator, and strangers must not push them out.
void Access::Tell(const Party& party, const AuditLine& line) {
  std::optional<uint64_t> held_back;
  // The audit log has a quota of its own, and what it lets through decides for the log as well: the
  // two tell of the same refusals.
  if (audit_ != nullptr) {
    held_back = audit_->WriteRefusal(party, line);
  } else {
    const MutexLock lock(mutex_);
    held_back = log_quota_.Take(party.name(), clock_.Monotonic());
  }
  if (held_back.has_value()) {
    log_.Write(LogLevel::kInfo, "security", "a caller was refused",
               {{"party", party.name()},
                {"cause", line.result},
                {"tokens", book_ == nullptr ? std::string("none") : book_->path()},
                {"held_back", *held_back}});
  }
}

namespace {

std::string_view TextOf(Access::RefusalCause why) {
  switch (why) {
    case Access::RefusalCause::kStranger:
      return "another user";
    case Access::RefusalCause::kNoRoom:
      return "too many connections";
    case Access::RefusalCause::kFlood:
      return "flood";
  }
  return {};
}

}  // namespace

void Access::RefuseConnection(const Party& party, RefusalCause why) {
  // The other causes are no failure of authentication: a right token may meet a full house.
  if (why == RefusalCause::kStranger) {
    const MutexLock lock(mutex_);
    ++failed_;
  }
  Tell(party, {.event = "connection", .peer = party.name(), .result = TextOf(why)});
}

uint64_t Access::failures() {
  const MutexLock lock(mutex_);
  return failed_;
}

size_t Access::remembered_failures() {
  const MutexLock lock(mutex_);
  return failures_.size();
}

// For shares and bounds, before the secret is checked. It proves nothing.
Party Access::PartyOf(const Caller& caller) {
  switch (caller.transport) {
    case Transport::kOwner:
      return Party::Owner();
    case Transport::kNeighbour:
      return Party::User(caller.uid);
    case Transport::kTcp:
      break;
  }
  // A token that is known names the party even with a wrong secret. So whoever guesses at
  // somebody's token by his own certificate pauses that pair only, and not the owner of the token.
  const std::string token = book_ == nullptr ? std::string() : book_->KnownId(caller.bearer);
  return token.empty() ? Party::Certificate(caller.subject) : Party::Token(caller.subject, token);
}

Result<Principal> Access::PrincipalOf(const Caller& caller) {
  if (caller.transport == Transport::kOwner) {
    return Principal{.scope = Scope::kAdmin, .token = {}, .tenant = {}, .id = "owner", .party = {}};
  }
  if (caller.transport == Transport::kNeighbour) {
    Party party = Party::User(caller.uid);
    return Principal{.scope = Scope::kWrite,
                     .token = {},
                     .tenant = party.name(),
                     .id = party.name(),
                     .party = std::move(party)};
  }
  if (book_ == nullptr) {
    return Error{.code = ErrorCode::kUnauthenticated,
                 .context = "this daemon knows no tokens",
                 .reason = "NO_TOKEN"};
  }
  KILN_TRY(const Token token, book_->Check(caller.bearer));
  // Tokens of one tenant are one principal; one without a tenant is a tenant of its own.
  const bool named = !token.tenant.empty();
  return Principal{.scope = token.scope,
                   .token = token.id,
                   .tenant = named ? token.tenant : token.id,
                   .id = named ? "tenant:" + token.tenant : "token:" + token.id,
                   .party = Party::Token(caller.subject, token.id)};
}

Result<Principal> Access::Identify(const Caller& caller, std::string_view method) {
  const bool tcp = caller.transport == Transport::kTcp;
  const Party party = tcp ? PartyOf(caller) : Party();
  // A right secret of a paused party is refused as well, or guessing would go on. The party hears
  // again why it failed before: whoever looks only now, as `kiln status` does, has not heard it.
  if (const std::optional<std::string> why = tcp ? WhyPaused(party) : std::nullopt;
      why.has_value()) {
    return Error{.code = ErrorCode::kUnauthenticated,
                 .context = fmt::format(
                     "{} failures in a minute, the last: {}; wait for {} s", kMostFailures, *why,
                     std::chrono::duration_cast<std::chrono::seconds>(kPause).count()),
                 .reason = "NO_TOKEN"};
  }
  Result<Principal> principal = PrincipalOf(caller);
  if (!principal.ok()) {
    // No party is blamed for a token that a broken token file may contain.
    if (book_ == nullptr || book_->trouble().empty() || party.kind() == Party::Kind::kToken) {
      AddFailure(party, principal.error().context);
    }
    Tell(party, {.event = "authentication",
                 .peer = caller.peer,
                 .subject = caller.subject,
                 .method = method,
                 .result = principal.error().context});
  }
  return principal;
}

// Scopes are numbered so that a larger one may do all that a smaller one may.
Result<void> Access::Check(const Principal& principal, std::string_view method, Scope needed) {
  if (principal.scope >= needed) {
    return {};
  }
  return Error{
      .code = ErrorCode::kPermissionDenied,
      .context = fmt::format("{} needs scope {}; {} has scope {}", method, ScopeName(needed),
                             principal.token.empty() ? std::string("this user")
                                                     : fmt::format("token {}", principal.token),
                             ScopeName(principal.scope)),
      .reason = "SCOPE"};
}

Result<Principal> Access::Permit(const Caller& caller, std::string_view method, Scope needed) {
  KILN_TRY(Principal principal, Identify(caller, method));
  KILN_TRY_VOID(Check(principal, method, needed));
  return principal;
}

}  // namespace kiln::ops
