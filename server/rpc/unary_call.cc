// SPDX-License-Identifier: MIT
#include "server/rpc/unary_call.h"

#include <memory>
#include <utility>

namespace kiln::rpc {
namespace {

// A call whose work is a job. Deletes itself.
class JobCall final : public grpc::ServerUnaryReactor {
 public:
  JobCall(std::unique_ptr<CallFrame> frame, v1::ErrorDetail detail, FramedBody body)
      : frame_(std::move(frame)), detail_(std::move(detail)) {
    frame_->Submit([this, body = std::move(body)](
                       const cache::Call& call) { return body(*frame_, call, detail_); },
                   [this](const Result<void>& result) {
                     Finish(frame_->StatusOf(result, std::move(detail_)));  // may delete this
                   });
  }

 private:
  void OnCancel() override { frame_->Cancel(); }
  void OnDone() override { delete this; }

  const std::unique_ptr<CallFrame> frame_;
  v1::ErrorDetail detail_;
};

// gRPC's own reactor, which needs no thread to be told that it is done.
grpc::ServerUnaryReactor* Finished(grpc::CallbackServerContext& context,
                                   const grpc::Status& status) {
  grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

grpc::ServerUnaryReactor* Answer(const Host& host, grpc::CallbackServerContext& context,
                                 std::string_view method, Needs needs, FramedBody body,
                                 std::string object) {
  auto frame = std::make_unique<CallFrame>(host, context, method);
  frame->SetObject(std::move(object));
  v1::ErrorDetail detail;
  detail.set_trace_id(frame->trace());
  if (needs == Needs::kNothing) {
    const Result<void> result =
        frame->Permitted().ok()
            ? frame->Try([&] { return body(*frame, frame->CallFor({}), detail); })
            : frame->Permitted();
    return Finished(context, frame->StatusOf(result, std::move(detail)));
  }
  if (const Result<void> admitted = frame->Admit(); !admitted.ok()) {
    return Finished(context, frame->StatusOf(admitted));
  }
  if (needs == Needs::kWorkOrMemory &&
      frame->AnswersAtOnce([&](const cache::Call& call) { return body(*frame, call, detail); })) {
    return Finished(context, frame->StatusOf({}));
  }
  return new JobCall(std::move(frame), std::move(detail), std::move(body));
}

}  // namespace

grpc::ServerUnaryReactor* AnswerUnary(const Host& host, grpc::CallbackServerContext& context,
                                      std::string_view method, Needs needs, FramedBody body,
                                      std::string object) {
  try {
    return Answer(host, context, method, needs, std::move(body), std::move(object));
  } catch (...) {  // not of a body: the call cannot even be begun
    const Error error = ThrownError();
    return Finished(context, {static_cast<grpc::StatusCode>(error.code), error.context});
  }
}

grpc::ServerUnaryReactor* AnswerUnary(const Host& host, grpc::CallbackServerContext& context,
                                      std::string_view method, Needs needs, UnaryBody body,
                                      std::string object) {
  return AnswerUnary(
      host, context, method, needs,
      FramedBody([body = std::move(body)](CallFrame&, const cache::Call& call,
                                          v1::ErrorDetail& detail) { return body(call, detail); }),
      std::move(object));
}

}  // namespace kiln::rpc
