// SPDX-License-Identifier: MIT
// daemon_bench: calls that would take seconds and are cancelled at some moment of theirs, until the
// daemon has no job of them any more.
#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "client/client.h"
#include "compiler/base/digest.h"
#include "compiler/base/test_wait.h"
#include "proto/kiln/v1/admin.grpc.pb.h"
#include "proto/kiln/v1/compile.grpc.pb.h"
#include "tests/bench/daemon_measures.h"

namespace kiln::bench {
namespace {

constexpr double kGateMs = 100;

std::string Many(int count, const std::function<std::string(int)>& declaration,
                 const std::function<std::string(int)>& statement) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += declaration(i);
  }
  text += "void v (void) { f1 x = 0.0;\n";
  for (int i = 0; i < count; ++i) {
    text += statement(i);
  }
  return text + "vertex_stage_output_position (f4 {x}); }\n";
}

std::string None(int /*number*/) { return {}; }

struct Row {
  const char* name;
  std::string text;
};

std::vector<Row> Rows() {
  return {
      {"statements", Many(60'000, None, [](int i) { return fmt::format("x = x + {}.0;\n", i); })},
      {"mistakes", Many(60'000, None, [](int i) { return fmt::format("x = q{};\n", i); })},
      {"buffers", Many(
                      4'000,
                      [](int i) {
                        return fmt::format(
                            "set_material read_only_storage_buffer b{} {{ f4 m; }};\n", i);
                      },
                      [](int i) { return fmt::format("x = x + b{}.m.x;\n", i); })}};
}

// One call of Compile at a time, of a source that nobody has sent before.
class Cancelled {
 public:
  explicit Cancelled(const DaemonBench& bench)
      : client_(client::Client::Open(bench.address)),
        compile_(v1::CompileService::NewStub(bench.daemon)),
        admin_(v1::AdminService::NewStub(bench.daemon)) {}

  // How long the whole call takes, in milliseconds.
  double WholeMs(const std::string& text) {
    const v1::CompileRequest request = RequestOf(text);
    grpc::ClientContext context;
    v1::CompileReply reply;
    const double begun = NowUs();
    (void)compile_->Compile(&context, request, &reply);
    return (NowUs() - begun) / 1000;
  }

  // From its cancellation, `after_ms` from its begin, until no job is left of it.
  double EndMs(const std::string& text, double after_ms) {
    const v1::CompileRequest request = RequestOf(text);
    grpc::ClientContext context;
    std::thread caller([&] {
      v1::CompileReply reply;
      (void)compile_->Compile(&context, request, &reply);
    });
    (void)WaitUntil([&] { return HasJobs(); }, std::chrono::seconds(2));
    LetPass(std::chrono::microseconds(static_cast<int64_t>(after_ms * 1000)));
    const double begun = NowUs();
    context.TryCancel();
    while (HasJobs()) {
    }
    const double ms = (NowUs() - begun) / 1000;
    caller.join();
    return ms;
  }

 private:
  v1::CompileRequest RequestOf(const std::string& text) {
    const std::string fresh = fmt::format("{}// {}\n", text, ++number_);
    const client::Source source{
        .path = "s.rpl", .digest = DigestOf(std::string_view(fresh)), .text = fresh};
    (void)client_->PutSources(std::span(&source, 1));
    v1::CompileRequest request;
    v1::Program& program = *request.mutable_variant()->mutable_inline_program();
    program.set_name("cancelled");
    program.set_pipeline("graphics_classic");
    v1::SourceRef& named = *program.add_sources();
    named.set_path(source.path);
    const Hash128& id = source.digest.id;
    named.mutable_digest()->set_id(std::string(id.bytes.begin(), id.bytes.end()));
    named.mutable_digest()->set_size(source.digest.size);
    v1::EntryPoint& entry = *program.add_entry_points();
    entry.set_stage(v1::EntryPoint::VERTEX);
    entry.set_function("v");
    v1::Target& target = *program.add_targets();
    target.set_name("vk");
    target.set_form(v1::Target::SPIRV);
    target.set_env("vulkan1.1");
    return request;
  }

  bool HasJobs() {
    grpc::ClientContext context;
    v1::ListJobsReply jobs;
    return admin_->ListJobs(&context, v1::ListJobsRequest(), &jobs).ok() && jobs.jobs_size() != 0;
  }

  const std::unique_ptr<client::Client> client_;
  const std::unique_ptr<v1::CompileService::Stub> compile_;
  const std::unique_ptr<v1::AdminService::Stub> admin_;
  int number_ = 0;
};

}  // namespace

// At moments that are spread over the whole of each call, since what cannot be left may be
// anywhere.
Json MeasureCancel(const DaemonBench& bench, Json& gates) {
  Cancelled calls(bench);
  const int moments = bench.quick ? 10 : 100;
  Json report = Json::object();
  double worst = 0;
  for (const Row& row : Rows()) {
    (void)calls.WholeMs(row.text);
    const double whole_ms = calls.WholeMs(row.text);
    std::vector<double> ends;
    for (int i = 0; i < moments; ++i) {
      ends.push_back(calls.EndMs(row.text, whole_ms * i / moments));
    }
    const Percentiles percentiles = PercentilesOf(ends);
    worst = std::max(worst, percentiles.p99);
    report[row.name] = {{"whole_ms", whole_ms}, {"until_end_ms", ToJson(percentiles)}};
  }
  gates["cancel_p99_ms"] = Gate(worst, kGateMs, worst <= kGateMs);
  return report;
}

}  // namespace kiln::bench
