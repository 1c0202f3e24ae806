// SPDX-License-Identifier: MIT
// What is decided about a call before its request is read (spec/daemon 11.3, 11.4): the length of
// its headers, how many calls of a party wait, and who may use gRPC's own services.
#include "server/rpc/transport/gates.h"

#include <string>
#include <string_view>

#include <grpcpp/security/auth_metadata_processor.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "compiler/base/mutex.h"
#include "server/rpc/transport/caller.h"
#include "server/rpc/transport/method_table.h"

namespace kiln::rpc {
namespace {

constexpr unsigned kCertificateSeconds = 1;  // how often the files are looked at

using Metadata = grpc::AuthMetadataProcessor::InputMetadata;

std::string_view Header(const Metadata& metadata, const char* name) {
  const auto found = metadata.find(name);
  return found == metadata.end() ? std::string_view()
                                 : std::string_view(found->second.data(), found->second.size());
}

// Calls of kiln's own methods come to a CallContext when their request is there; nothing else does.
bool ComesToAFrame(std::string_view path) {
  constexpr std::string_view kPackage = "/kiln.v1.";
  return path.starts_with(kPackage) && FindMethod(path.substr(path.rfind('/') + 1)) != nullptr;
}

bool IsReflection(std::string_view path) { return path.starts_with("/grpc.reflection."); }

grpc::Status Begin(Connections& connections, const ops::Party& party) {
  return connections.CallBegan(party) ? grpc::Status::OK
                                      : grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                                                     "too many calls wait for their requests");
}

grpc::Status AskGrpc(Connections& connections, const ops::Party& party) {
  return connections.AskedOfGrpc(party)
             ? grpc::Status::OK
             : grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many calls");
}

// Whether the headers are within `most` bytes, as HTTP/2 counts them.
bool AreWithin(const Metadata& metadata, uint64_t most) {
  // The overhead of a field by RFC 9113, section 6.5.2, which header_list counts as well.
  constexpr uint64_t kOfAHeader = 32;
  uint64_t bytes = 0;
  for (const auto& [name, value] : metadata) {
    bytes += name.size() + value.size() + kOfAHeader;
    if (bytes > most) {
      return false;
    }
  }
  return true;
}

// Such a call is one for nothing.
grpc::Status RefuseLong(Connections& connections, const ops::Party& party) {
  (void)connections.AskedOfGrpc(party);
  return {grpc::StatusCode::RESOURCE_EXHAUSTED, "the headers are longer than limits.header_list"};
}

// gRPC asks a gate about each call, before a handler sees it. The gate must not block, as it runs
// in the thread that reads the connection.
class TcpGate final : public grpc::AuthMetadataProcessor {
 public:
  TcpGate(ops::Access& access, Connections& connections, uint32_t header_list)
      : access_(access), connections_(connections), header_list_(header_list) {}

  bool IsBlocking() const override { return false; }

  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* context,
                       OutputMetadata* /*consumed*/, OutputMetadata* /*response*/) override {
    const std::string_view path = Header(metadata, ":path");
    const ops::Caller caller = TcpCallerOf(*context, Header(metadata, "authorization"));
    // All of this happens before the request is read. So a call that is refused here has cost its
    // headers only.
    const ops::Party party = access_.PartyOf(caller);
    if (!AreWithin(metadata, header_list_)) {
      return RefuseLong(connections_, party);
    }
    if (ComesToAFrame(path)) {
      return Begin(connections_, party);
    }
    // gRPC answers the others itself: health to everybody, reflection to administrators.
    if (grpc::Status asked = AskGrpc(connections_, party); !asked.ok() || !IsReflection(path)) {
      return asked;
    }
    const auto permitted = access_.Permit(caller, path, ops::Scope::kAdmin);
    return permitted.ok() ? grpc::Status::OK
                          : grpc::Status(static_cast<grpc::StatusCode>(permitted.error().code),
                                         permitted.error().context);
  }

 private:
  ops::Access& access_;
  Connections& connections_;
  const uint32_t header_list_;
};

// Writes down, once for each connection, which user it is of. That is done before the first call of
// a connection is handed out, so nobody reads what is being written.
class NeighbourGate final : public grpc::AuthMetadataProcessor {
 public:
  NeighbourGate(uint32_t uid, Connections& connections, uint32_t header_list)
      : name_(std::to_string(uid)),
        party_(ops::Party::User(uid)),
        connections_(connections),
        header_list_(header_list) {}

  bool IsBlocking() const override { return false; }

  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* context,
                       OutputMetadata* /*consumed*/, OutputMetadata* /*response*/) override {
    {
      const MutexLock lock(mutex_);
      if (context->FindPropertyValues(kNeighbourProperty).empty()) {
        context->AddProperty(kNeighbourProperty, name_);
      }
    }
    if (!AreWithin(metadata, header_list_)) {
      return RefuseLong(connections_, party_);
    }
    const std::string_view path = Header(metadata, ":path");
    if (ComesToAFrame(path)) {
      return Begin(connections_, party_);
    }
    // Reflection is the owner's and administrators': gRPC parses its requests, whatever they are.
    return IsReflection(path)
               ? grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "reflection needs scope admin")
               : AskGrpc(connections_, party_);
  }

 private:
  const std::string name_;
  const ops::Party party_;
  Connections& connections_;
  const uint32_t header_list_;
  Mutex mutex_;
};

}  // namespace

// The certificate of the client is required and checked by gRPC against client_ca. The gate sees
// only calls of connections that passed.
std::shared_ptr<grpc::ServerCredentials> OfTcp(const TlsFiles& files, ops::Access& access,
                                               Connections& connections, uint32_t header_list) {
  // gRPC reads the files again itself, so a renewed certificate needs no restart. See spec/daemon
  // 11.3
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          files.key, files.cert, files.client_ca, kCertificateSeconds));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  auto credentials = grpc::experimental::TlsServerCredentials(options);
  credentials->SetAuthMetadataProcessor(
      std::make_shared<TcpGate>(access, connections, header_list));
  return credentials;
}

std::shared_ptr<grpc::ServerCredentials> OfNeighbour(uint32_t uid, Connections& connections,
                                                     uint32_t header_list) {
  auto credentials = grpc::experimental::LocalServerCredentials(UDS);
  credentials->SetAuthMetadataProcessor(
      std::make_shared<NeighbourGate>(uid, connections, header_list));
  return credentials;
}

}  // namespace kiln::rpc
