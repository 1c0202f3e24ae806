// SPDX-License-Identifier: MIT
#include "client/call_log.h"

#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>

#include <grpc/support/log.h>
#include <grpcpp/support/client_interceptor.h>

#include "client/connection.h"
#include "client/process_state.h"
#include "compiler/base/result.h"

namespace kiln::client {
namespace {

struct CallLog {
  std::function<void(const EndedCall&)> tell;
};

// Lives as long as one call. The time counts from its construction, so it includes retries and
// waiting for a connection, as the user feels it.
class Watch final : public grpc::experimental::Interceptor {
 public:
  explicit Watch(std::string method) : method_(std::move(method)) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            grpc::experimental::InterceptionHookPoints::POST_RECV_STATUS)) {
      // Codes of errors are those of gRPC, number by number (compiler/base/result.h).
      const grpc::Status* status = methods->GetRecvStatus();
      // An interceptor lives as long as its call, so the time since its construction is that of the
      // call.
      const auto took = std::chrono::steady_clock::now() - begun_;
      OfProcess<CallLog>().tell(
          {.method = method_,
           .code = status->ok()
                       ? std::string("OK")
                       : std::string(ErrorCodeName(static_cast<ErrorCode>(status->error_code()))),
           .us = static_cast<uint64_t>(
               std::chrono::duration_cast<std::chrono::microseconds>(took).count())});
    }
    methods->Proceed();
  }

 private:
  const std::string method_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

class Factory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo* info) override {
    return new Watch(info->method());  // gRPC deletes it
  }
};

}  // namespace

void LogCalls(std::function<void(const EndedCall&)> log) {
  OfProcess<CallLog>().tell = std::move(log);
}

std::shared_ptr<grpc::Channel> OpenChannel(
    const std::string& target, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    const grpc::ChannelArguments& arguments) {
  // Interceptors cost an allocation for each call, so a channel has them only if somebody listens.
  // That is why LogCalls comes before the first channel.
  if (!OfProcess<CallLog>().tell) {
    return grpc::CreateCustomChannel(target, credentials, arguments);
  }
  std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> factories;
  factories.push_back(std::make_unique<Factory>());
  return grpc::experimental::CreateCustomChannelWithInterceptors(target, credentials, arguments,
                                                                 std::move(factories));
}

void SilenceTransport() {
  // Who asks gRPC for its log gets it.
  if (std::getenv("GRPC_VERBOSITY") == nullptr && std::getenv("GRPC_TRACE") == nullptr) {
    gpr_set_log_function([](gpr_log_func_args*) {});
  }
}

}  // namespace kiln::client
