// SPDX-License-Identifier: MIT
// daemon_bench: warm Compile calls with the artifact inline, beside bare echoes of the same sizes.
#include "tests/bench/daemon_hit.h"

#include <algorithm>

#include <grpcpp/grpcpp.h>

#include "proto/kiln/v1/compile.grpc.pb.h"
#include "tests/bench/bare_peer.h"

namespace kiln::bench {
namespace {

constexpr double kGate = 1.5;

v1::CompileRequest HitRequest() {
  const client::Program uber = UberProgram(UberText());
  v1::CompileRequest request;
  v1::Program& program = *request.mutable_variant()->mutable_inline_program();
  program.set_name(uber.name);
  program.set_pipeline(uber.pipeline);
  v1::SourceRef& source = *program.add_sources();
  source.set_path(uber.sources[0].path);
  const Hash128& id = uber.sources[0].digest.id;
  source.mutable_digest()->set_id(std::string(id.bytes.begin(), id.bytes.end()));
  source.mutable_digest()->set_size(uber.sources[0].digest.size);
  for (const client::EntryPoint& entry : uber.entries) {
    v1::EntryPoint& added = *program.add_entry_points();
    added.set_stage(static_cast<v1::EntryPoint::Stage>(entry.stage));
    added.set_function(entry.function);
  }
  v1::Target& target = *program.add_targets();
  target.set_name("vk");
  target.set_form(v1::Target::SPIRV);
  target.set_env("vulkan1.1");
  target.set_debug(v1::Target::NAMES);
  request.set_inline_data(true);
  return request;
}

}  // namespace

struct HitCall::State {
  std::unique_ptr<v1::CompileService::Stub> stub;
  v1::CompileRequest request;
  v1::CompileReply reply;
};

HitCall::HitCall(const DaemonBench& bench) : state_(std::make_unique<State>()) {
  state_->stub = v1::CompileService::NewStub(bench.daemon);
  state_->request = HitRequest();
  v1::SourceRef& source =
      *state_->request.mutable_variant()->mutable_inline_program()->mutable_sources(0);
  source.set_inline_(UberText());
  (void)Us();
  source.clear_inline_();
  (void)Us();
}
HitCall::~HitCall() = default;

double HitCall::Us() {
  grpc::ClientContext context;
  const double start = NowUs();
  const grpc::Status status = state_->stub->Compile(&context, state_->request, &state_->reply);
  return status.ok() ? NowUs() - start : -1;
}

uint64_t HitCall::request_bytes() const { return state_->request.ByteSizeLong(); }
uint64_t HitCall::reply_bytes() const { return state_->reply.ByteSizeLong(); }

Json MeasureHit(const DaemonBench& bench, Json& gates) {
  HitCall call(bench);
  const PeerRequest same{.bytes = call.reply_bytes(), .padding = call.request_bytes()};
  std::vector<double> hits, bare, empty;
  const auto peer_us = [&](const PeerRequest& request) {
    const double start = NowUs();
    (void)CallPeer(bench.peer, request);
    return NowUs() - start;
  };
  // Turn and turn about, so that whatever else the machine does meets both, and each finds its
  // server after a call to the other: one that was called just now answers a third faster.
  const int calls = bench.quick ? 500 : 5000;
  for (int i = 0; i < calls; ++i) {
    hits.push_back(call.Us());
    bare.push_back(peer_us(same));
  }
  for (int i = 0; i < calls; ++i) {
    empty.push_back(peer_us({}));
  }
  const Percentiles hit = PercentilesOf(hits);
  const Percentiles echo = PercentilesOf(bare);
  const double ratio = hit.p50 / echo.p50;
  gates["warm_hit_of_bare_echo_p50"] = Gate(ratio, kGate, ratio <= kGate);
  return {{"bytes", call.reply_bytes()},
          {"hit_us", ToJson(hit)},
          {"bare_us", ToJson(echo)},
          {"empty_us", ToJson(PercentilesOf(empty))},
          {"ratio_p50", ratio}};
}

}  // namespace kiln::bench
