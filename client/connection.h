// SPDX-License-Identifier: MIT
// The channel to one daemon and the stubs of its services, which all calls of a client share; and
// the context, ids and pages of one call. Private to client/*.cc. Connects lazily, at the first
// call. Threads: everything may be called from several at once; nothing of it changes after it was
// opened.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include <grpcpp/grpcpp.h>

#include "cache/upstream/tls_probe.h"
#include "client/client.h"
#include "client/convert.h"
#include "client/page_count.h"
#include "client/trace.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"
#include "compiler/base/version.h"
#include "proto/kiln/v1/admin.grpc.pb.h"
#include "proto/kiln/v1/batch.grpc.pb.h"
#include "proto/kiln/v1/cache.grpc.pb.h"
#include "proto/kiln/v1/compile.grpc.pb.h"
#include "proto/kiln/v1/pack.grpc.pb.h"

namespace kiln::client {

// While a call waits, the peer is asked whether it still is there: a stream is silent as long as
// there is nothing to tell, and so is one of a daemon that was stopped or whose network went. The
// answer comes from gRPC, however busy the daemon is. The daemon takes it more often than that
// (kLeastPingMs in server/rpc/transport/rpc_server.cc).
struct Keepalive {
  std::chrono::milliseconds after{60'000};  // that nothing came
  std::chrono::milliseconds answer{20'000};
};

// A channel whose calls are told to the log of calls, if there is one (call_log.cc).
std::shared_ptr<grpc::Channel> OpenChannel(
    const std::string& target, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    const grpc::ChannelArguments& arguments);

struct Connection {
  // "unix:PATH" of a socket that the caller trusts, whoever made it.
  static std::unique_ptr<Connection> Open(const std::string& address,
                                          const Keepalive& keepalive = {});
  // The same for a socket that must be of this user. Errors: as Client::OpenOwn.
  static Result<std::unique_ptr<Connection>> OpenOwn(const std::string& address);
  // Errors: as Client::Open.
  static Result<std::unique_ptr<Connection>> Open(const Endpoint& endpoint);

  // What a call failed with, or the cause behind it: of a daemon behind https that cannot be
  // reached, which certificate, file or address is wrong.
  Error ExplainReply(Error error) const;

  std::string address;    // as it was named: unix:PATH or https://HOST:PORT
  std::string target;     // what gRPC was given for it
  std::string host_port;  // of https, else empty
  cache::upstream::TlsFiles tls;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::CompileService::Stub> compile;
  std::unique_ptr<v1::BatchService::Stub> batch;
  std::unique_ptr<v1::AdminService::Stub> admin;
  std::unique_ptr<v1::CacheService::Stub> cache;
  std::unique_ptr<v1::PackService::Stub> pack;
};

// How long a call with one answer may take, whatever the daemon does: it ends most of them itself
// after 30 s (spec/daemon 9.1), those that plan a batch may be busy for longer, and an upload has
// 15 min there. Streams have no such end: they last as long as something comes.
inline constexpr std::chrono::seconds kAnswerWithin{60};
inline constexpr std::chrono::minutes kPlanWithin{10};
inline constexpr std::chrono::minutes kUploadWithin{16};

// Of one channel: what has come and nobody has taken yet. gRPC 1.51 looks at the size of a message
// when it has all of it, so a peer may announce 4 GiB and send them. Where this is used up gRPC
// ends a stream that is receiving, and says kBuffersFull. Two messages of the largest size.
inline constexpr size_t kMostReceivingBytes = size_t{128} << 20;
inline constexpr const char* kBuffersFull = "Buffers full";

// Context of one call: the detail of an error comes as trailing metadata.
struct Context {
  grpc::ClientContext grpc;

  // For a call with one answer.
  explicit Context(std::chrono::seconds within) : Context() {
    patience_ = within;
    grpc.set_deadline(std::chrono::system_clock::now() + within);
  }
  // For a stream, or a call that sets its own deadline.
  Context() {
    grpc.AddMetadata("kiln-api", "1");
    grpc.AddMetadata("kiln-client", "kiln-cpp/" + std::string(Version()));
    if (!TraceId().empty()) {
      grpc.AddMetadata("traceparent", "00-" + TraceId() + "-0000000000000001-01");
    }
  }

  Error Failed(const grpc::Status& status) const {
    const auto& trailers = grpc.GetServerTrailingMetadata();
    const auto detail = trailers.find("kiln-error-bin");
    const bool is_silent = detail == trailers.end() && patience_.count() != 0 &&
                           status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
    if (is_silent) {
      return {.code = ErrorCode::kDeadlineExceeded,
              .context = "the daemon did not answer within " + std::to_string(patience_.count()) +
                         " s; 'kiln doctor' says what is wrong with it",
              .reason = "DEADLINE"};
    }
    if (detail == trailers.end() && status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED &&
        status.error_message() == kBuffersFull) {
      return {.code = ErrorCode::kResourceExhausted,
              .context = "the daemon sends more at once than a client takes, " +
                         std::to_string(kMostReceivingBytes >> 20) + " MiB",
              .reason = "LIMIT_EXCEEDED"};
    }
    if (detail == trailers.end()) {
      return FromStatus(status);
    }
    return FromStatus(grpc::Status(status.error_code(), status.error_message(),
                                   std::string(detail->second.data(), detail->second.size())));
  }

 private:
  std::chrono::seconds patience_{0};  // 0: without an end of this client's own
};

// The bytes of an id in hex; empty if the text is not an id.
inline std::string IdOf(const std::string& hex) {
  const std::optional<Hash128> hash = ParseHash128(hex);
  return hash.has_value() ? std::string(hash->bytes.begin(), hash->bytes.end()) : std::string();
}

// Calls until the last page was given to `each`. Errors: those of the daemon, and of PageCount.
template <class Stub, class Request, class Reply, class Each>
Result<void> EachPage(Stub& stub,
                      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                      Request request, const Each& each) {
  PageCount pages;
  do {
    Context context(kAnswerWithin);
    Reply reply;
    const grpc::Status status = (stub.*method)(&context.grpc, request, &reply);
    if (!status.ok()) {
      return context.Failed(status);
    }
    KILN_TRY_VOID(pages.Add(reply.next_page_token(), reply.ByteSizeLong()));
    if constexpr (std::is_void_v<decltype(each(reply))>) {
      each(reply);
    } else {
      KILN_TRY_VOID(each(reply));
    }
    request.set_page_token(reply.next_page_token());
  } while (!request.page_token().empty());
  return {};
}

}  // namespace kiln::client
