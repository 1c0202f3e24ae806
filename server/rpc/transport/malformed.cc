// SPDX-License-Identifier: MIT
// Gives a request that does not parse the same kind of error as all others (spec/daemon 2): gRPC
// itself would answer it with a code and no detail.
#include "server/rpc/transport/malformed.h"

#include <string>
#include <string_view>

#include "server/rpc/messages/request_error.h"
#include "server/rpc/reactors/call_context.h"
#include "server/rpc/transport/method_table.h"

namespace kiln::rpc {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::Interceptor;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;

// "/kiln.v1.AdminService/GetStatus" -> its row; null for a method that is not kiln's.
const MethodRow* RowOf(std::string_view path) {
  constexpr std::string_view kPackage = "/kiln.v1.";
  if (!path.starts_with(kPackage)) {
    return nullptr;
  }
  const std::string_view rest = path.substr(kPackage.size());
  const MethodRow* const row = FindMethod(rest.substr(rest.find('/') + 1));
  return row != nullptr && row->service == rest.substr(0, rest.find('/')) ? row : nullptr;
}

// Of one call.
class Refusal final : public Interceptor {
 public:
  Refusal(const Host& host, ServerRpcInfo& call, const MethodRow& row)
      : host_(host), call_(call), row_(row) {}

  void Intercept(InterceptorBatchMethods* methods) override {
    // gRPC answers a request that it cannot parse by itself, with a bare code. No handler sees the
    // call, so its status gets the detail on the way out.
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE) &&
        methods->GetRecvMessage() == nullptr) {
      is_malformed_ = true;
      (void)CatchAll([this] { Refuse(); });
    }
    // The status that gRPC made is replaced on its way out.
    if (is_malformed_ &&
        methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      methods->ModifySendStatus(status_);
    }
    methods->Proceed();
  }

 private:
  // A caller that may not call the method is told that instead.
  void Refuse() {
    CallContext frame(host_, static_cast<grpc::CallbackServerContext&>(*call_.server_context()),
                      row_.method);
    status_ = frame.StatusOf(
        frame.Permitted().ok()
            ? Malformed("message", "these bytes are no request of " + std::string(row_.method))
            : frame.Permitted());
  }

  const Host& host_;
  ServerRpcInfo& call_;
  const MethodRow& row_;
  bool is_malformed_ = false;
  grpc::Status status_{grpc::StatusCode::INVALID_ARGUMENT, {}};
};

class Factory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit Factory(const Host& host) : host_(host) {}

  Interceptor* CreateServerInterceptor(ServerRpcInfo* call) override {
    // Streams of requests are read as bytes, and their handlers look at each message.
    const bool one_message = call->type() == ServerRpcInfo::Type::UNARY ||
                             call->type() == ServerRpcInfo::Type::SERVER_STREAMING;
    const MethodRow* const row = one_message ? RowOf(call->method()) : nullptr;
    return row == nullptr || row->reads == Reads::kBytes ? nullptr
                                                         : new Refusal(host_, *call, *row);
  }

 private:
  const Host& host_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> RefusesMalformed(
    const Host& host) {
  return std::make_unique<Factory>(host);
}

}  // namespace kiln::rpc
