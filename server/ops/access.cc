// SPDX-License-Identifier: MIT
#include "server/ops/access.h"

#include <chrono>

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace kiln::ops {
namespace {

constexpr size_t kMostPeers = 10'000;  // remembered; more make it forget those that do not pause
constexpr Duration kWindow = std::chrono::minutes(1);

// "ipv4:10.0.0.7:4711" -> "ipv4:10.0.0.7"
std::string HostOf(const std::string& peer) {
  const size_t colon = peer.rfind(':');
  return colon == std::string::npos ? peer : peer.substr(0, colon);
}

}  // namespace

std::string NeighbourName(uint32_t uid) { return fmt::format("unix:uid={}", uid); }

bool Access::IsPaused(const std::string& host) {
  const MutexLock lock(mutex_);
  const auto found = failures_.find(host);
  return found != failures_.end() && clock_.Monotonic() < found->second.paused_until;
}

void Access::AddFailure(const Caller& caller, std::string_view method, std::string_view what) {
  const std::string host = HostOf(caller.peer);
  const Duration now = clock_.Monotonic();
  {
    const MutexLock lock(mutex_);
    ++failed_;
    if (failures_.size() >= kMostPeers && !failures_.contains(host)) {
      std::erase_if(failures_, [now](const auto& row) { return row.second.paused_until <= now; });
    }
    Failures& row = failures_[host];
    if (row.count == 0 || now - row.since >= kWindow) {
      row = {.since = now, .count = 0, .paused_until = row.paused_until};
    }
    if (++row.count >= kMostFailures) {
      row = {.since = now, .count = 0, .paused_until = now + kPause};
    }
  }
  if (audit_ != nullptr) {
    audit_->Write({.event = "authentication",
                   .peer = caller.peer,
                   .subject = caller.subject,
                   .method = method,
                   .result = what});
  }
}

uint64_t Access::failures() {
  const MutexLock lock(mutex_);
  return failed_;
}

Result<Principal> Access::PrincipalOf(const Caller& caller) {
  switch (caller.transport) {
    case Transport::kOwner:
      return Principal{.scope = Scope::kAdmin, .token = {}, .tenant = {}, .id = "owner"};
    case Transport::kNeighbour:
      return Principal{.scope = Scope::kWrite, .token = {}, .tenant = {}, .id = caller.peer};
    case Transport::kTcp:
      break;
  }
  if (book_ == nullptr) {
    return Error{.code = ErrorCode::kUnauthenticated,
                 .context = "this daemon knows no tokens",
                 .reason = "NO_TOKEN"};
  }
  KILN_TRY(const Token token, book_->Check(caller.bearer));
  return Principal{.scope = token.scope,
                   .token = token.id,
                   .tenant = token.tenant,
                   .id = token.tenant.empty() ? "token:" + token.id : "tenant:" + token.tenant};
}

Result<Principal> Access::Identify(const Caller& caller, std::string_view method) {
  // A right token of a paused peer is refused as well, or guessing would go on.
  if (caller.transport == Transport::kTcp && IsPaused(HostOf(caller.peer))) {
    return Error{
        .code = ErrorCode::kUnauthenticated,
        .context = fmt::format("{} failures in a minute; wait for {} s", kMostFailures,
                               std::chrono::duration_cast<std::chrono::seconds>(kPause).count()),
        .reason = "NO_TOKEN"};
  }
  Result<Principal> principal = PrincipalOf(caller);
  if (!principal.ok()) {
    AddFailure(caller, method, principal.error().context);
  }
  return principal;
}

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
