// SPDX-License-Identifier: MIT
// Who made a call, from what gRPC knows of its connection (spec/daemon 11). It is read and not
// proved here: transports and gates have proved it.
#include "server/rpc/transport/caller.h"

#include <charconv>
#include <vector>

namespace kiln::rpc {
namespace {

std::string_view ViewOf(const grpc::string_ref& text) { return {text.data(), text.size()}; }

std::string_view FirstOf(const grpc::AuthContext& context, const char* property) {
  const std::vector<grpc::string_ref> values = context.FindPropertyValues(property);
  return values.empty() ? std::string_view() : ViewOf(values.front());
}

// Nothing for a text that is no number, which then is an unknown user and not user 0.
std::optional<uint32_t> UidOf(const grpc::AuthContext& context) {
  const std::string_view text = FirstOf(context, kNeighbourProperty);
  uint32_t uid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), uid);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(uid)
                                                                  : std::nullopt;
}

// Certificates of today may have no subject, only other names.
std::string SubjectOf(const grpc::AuthContext& context) {
  for (const char* property :
       {"x509_subject", "x509_common_name", "x509_subject_alternative_name"}) {
    if (const std::string_view found = FirstOf(context, property); !found.empty()) {
      return std::string(found);
    }
  }
  return {};
}

}  // namespace

// The scheme is compared as it is written: other spellings are no token, and the caller is told how
// one looks.
std::string BearerOf(std::string_view authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  return authorization.starts_with(kScheme) ? std::string(authorization.substr(kScheme.size()))
                                            : std::string();
}

ops::Caller TcpCallerOf(const grpc::AuthContext& context, std::string_view authorization) {
  return {.transport = ops::Transport::kTcp,
          .uid = {},
          .peer = {},
          .subject = SubjectOf(context),
          .bearer = BearerOf(authorization)};
}

ops::Caller CallerOf(const grpc::CallbackServerContext& context) {
  const std::shared_ptr<const grpc::AuthContext> auth = context.auth_context();
  const std::string_view security =
      auth == nullptr ? std::string_view() : FirstOf(*auth, "transport_security_type");
  // The acceptor decided who it is before gRPC saw the connection: credentials of this kind are
  // given to the owner's connections only.
  if (security.empty() || security == "insecure") {
    return {.transport = ops::Transport::kOwner};
  }
  if (security == "local") {
    return {.transport = ops::Transport::kNeighbour, .uid = UidOf(*auth)};
  }
  const auto found = context.client_metadata().find("authorization");
  ops::Caller caller = TcpCallerOf(
      *auth, found == context.client_metadata().end() ? std::string_view() : ViewOf(found->second));
  caller.peer = context.peer();
  return caller;
}

}  // namespace kiln::rpc
