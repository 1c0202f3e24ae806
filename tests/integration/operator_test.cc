// SPDX-License-Identifier: MIT
// What an operator sees and does: jobs, traces, metrics, configuration that is read again, log
// levels, memory, drain. See spec/daemon 4.6, 9, 13, 14
#include <condition_variable>
#include <fstream>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/base/test_wait.h"
#include "server/ops/metrics.h"
#include "server/test_server.h"
#include "tests/support/call_empty.h"
#include "tests/support/http_get.h"

namespace kiln::server {
namespace {

class Operator : public ServerTest {
 protected:
  void StartWith(const std::function<void(Daemon::Options&)>& change) {
    Daemon::Options options = OptionsIn(folder.path());
    change(options);
    ServerTest::StartWith(options);
  }

  template <class Reply, class Request>
  grpc::Status Call(grpc::Status (v1::AdminService::Stub::*method)(grpc::ClientContext*,
                                                                   const Request&, Reply*),
                    const Request& request, Reply& reply) {
    grpc::ClientContext context;
    grpc::Status status = (admin.get()->*method)(&context, request, &reply);
    detail = DetailOf(context);
    return status;
  }

  v1::ErrorDetail detail;  // of the last call
};

TEST_F(Operator, Metrics_CountCallsAndHaveEveryName) {
  StartWith([](auto& o) { o.config.metrics = "127.0.0.1:0"; });
  Compile(RequestOf(GoodSource()));
  Compile(RequestOf(GoodSource()));
  grpc::ClientContext context;
  v1::CompileReply reply;
  EXPECT_FALSE(compile->Compile(&context, v1::CompileRequest(), &reply).ok());
  const std::string text = HttpGet(daemon->metrics(), "/metrics");
  EXPECT_TRUE(text.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"));
  for (const char* line : {
           "kiln_requests_total{code=\"OK\",lane=\"interactive\",method=\"Compile\"} 2\n",
           R"(kiln_requests_total{code="INVALID_ARGUMENT",lane="interactive",method="Compile"} 1)",
           "kiln_request_seconds_count{code=\"OK\",lane=\"interactive\",method=\"Compile\"} 2\n",
           "kiln_queue_wait_seconds_count{lane=\"interactive\"} ",
           "kiln_health_state{state=\"SERVING\"} 1\n",
           "kiln_worker_restarts_total{cause=\"killed\"} 0\n",
           "kiln_poison_total{cause=\"recipe\"} 0\n",
           "kiln_build_info{version=\"0.2.0\",build_id=\"",
           "kiln_cache_lookups_total{level=\"result\",result=\"hit\",cause=\"\"} 1\n",
           "kiln_upstream_requests_total{op=\"get\",result=\"ok\"} 0\n",
       }) {
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
  }
  for (const ops::MetricRow& row : ops::MetricTable()) {
    EXPECT_NE(text.find("# TYPE " + std::string(row.name) + " "), std::string::npos) << row.name;
  }
}

// Often, because a daemon that counts a call after its reply is usually quick enough.
TEST_F(Operator, CallThatWasAnswered_IsCountedAuditedAndTraced) {
  const std::string audit = folder.path() + "/audit.jsonl";
  StartWith([&](auto& o) {
    o.config.metrics = "127.0.0.1:0";
    o.config.audit_log = audit;
  });
  for (int calls = 1; calls <= 50; ++calls) {
    const std::string trace = fmt::format("4bf92f3577b34da6a3ce9299{:08x}", calls);
    grpc::ClientContext context;
    context.AddMetadata("traceparent", "00-" + trace + "-00f067aa0ba902b7-01");
    v1::SetLogLevelRequest level;
    level.set_level("info");
    v1::SetLogLevelReply reply;
    ASSERT_TRUE(admin->SetLogLevel(&context, level, &reply).ok());
    const std::string text = HttpGet(daemon->metrics(), "/metrics");
    EXPECT_NE(text.find(fmt::format("kiln_requests_total{{code=\"OK\",lane=\"interactive\","
                                    "method=\"SetLogLevel\"}} {}\n",
                                    calls)),
              std::string::npos);
    std::ifstream file(audit);
    const std::string acts(std::istreambuf_iterator<char>(file), {});
    EXPECT_NE(acts.find(trace), std::string::npos) << acts;
    v1::GetStatusRequest request;
    request.set_trace_id(trace);
    v1::ServerStatus status;
    EXPECT_TRUE(Call(&v1::AdminService::Stub::GetStatus, request, status).ok());
  }
}

TEST_F(Operator, TraceOfZeros_IsNone) {
  const std::string audit = folder.path() + "/audit.jsonl";
  StartWith([&](auto& o) { o.config.audit_log = audit; });
  const std::string zeros(32, '0');
  grpc::ClientContext context;
  context.AddMetadata("traceparent", "00-" + zeros + "-00f067aa0ba902b7-01");
  v1::SetLogLevelRequest level;
  level.set_level("info");
  v1::SetLogLevelReply reply;
  ASSERT_TRUE(admin->SetLogLevel(&context, level, &reply).ok());
  std::ifstream file(audit);
  const std::string acts(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(acts.find("SetLogLevel"), std::string::npos) << acts;
  EXPECT_EQ(acts.find(zeros), std::string::npos) << acts;
}

// The first scrape asks for a count, which is made in the background.
TEST_F(Operator, Metrics_ShowTheRecordsOfEveryLevel) {
  StartWith([](auto& o) { o.config.metrics = "127.0.0.1:0"; });
  v1::CompileRequest request = RequestOf(GoodSource());
  request.set_durability(v1::DURABILITY_LOCAL);
  ASSERT_TRUE(Compile(request).artifacts(0).stored());
  std::string text;
  EXPECT_TRUE(WaitUntil([&] {
    text = HttpGet(daemon->metrics(), "/metrics");
    return text.find("kiln_cache_records{") != std::string::npos;
  }));
  for (const char* line : {
           "kiln_cache_records{level=\"module\"} 1\n",
           "kiln_cache_records{level=\"signature\"} 1\n",
           "kiln_cache_records{level=\"recipe\"} 0\n",
       }) {
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
  }
  EXPECT_EQ(text.find("kiln_cache_records{level=\"content\"} 0\n"), std::string::npos);
}

// What a collector reads back: calls below the spans of their callers, waiting and running below
// the calls.
TEST_F(Operator, Otlp_HasTheSpansOfCallsBelowTheCallers) {
  const std::string file = folder.path() + "/traces.jsonl";
  StartWith([&](auto& o) { o.config.otlp = file; });
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  grpc::ClientContext context;
  context.AddMetadata("traceparent", "00-" + trace + "-00f067aa0ba902b7-01");
  v1::CompileReply reply;
  ASSERT_TRUE(compile->Compile(&context, RequestOf(GoodSource()), &reply).ok());
  daemon.reset();  // what waited is written
  std::map<std::string, nlohmann::json> spans;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json request = nlohmann::json::parse(line);
    for (const auto& span : request.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans")) {
      if (span.at("traceId") == trace) {
        spans[span.at("name")] = span;
      }
    }
  }
  ASSERT_EQ(spans.size(), 3u);
  const nlohmann::json& call = spans.at("Compile");
  EXPECT_EQ(call.at("parentSpanId"), "00f067aa0ba902b7");
  const auto time = [](const nlohmann::json& span, const char* which) {
    return std::stoull(span.at(which).get<std::string>());
  };
  uint64_t before = time(call, "startTimeUnixNano");
  for (const char* name : {"queue", "run"}) {
    const nlohmann::json& span = spans.at(name);
    EXPECT_EQ(span.at("parentSpanId"), call.at("spanId")) << name;
    EXPECT_GE(time(span, "startTimeUnixNano"), before) << name;
    before = time(span, "endTimeUnixNano");
    EXPECT_GE(before, time(span, "startTimeUnixNano")) << name;
  }
  EXPECT_LE(before, time(call, "endTimeUnixNano"));
}

TEST_F(Operator, Otlp_WithoutItsFolder_CostsTheExportOnly) {
  std::ofstream(folder.path() + "/file") << "x";
  StartWith([&](auto& o) { o.config.otlp = folder.path() + "/file/traces.jsonl"; });
  EXPECT_EQ(Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK);
}

TEST_F(Operator, Readiness_FollowsTheHealth) {
  StartWith([](auto& o) { o.config.metrics = "127.0.0.1:0"; });
  EXPECT_TRUE(HttpGet(daemon->metrics(), "/healthz").ends_with("\r\n\r\nalive\n"));
  EXPECT_TRUE(HttpGet(daemon->metrics(), "/readyz").ends_with("\r\n\r\nSERVING\n"));
  EXPECT_TRUE(HttpGet(daemon->metrics(), "/other").starts_with("HTTP/1.1 404"));
  daemon->Drain();
  EXPECT_TRUE(HttpGet(daemon->metrics(), "/readyz").starts_with("HTTP/1.1 503"));
  EXPECT_TRUE(HttpGet(daemon->metrics(), "/healthz").starts_with("HTTP/1.1 200"));
}

TEST_F(Operator, Dashboard_UsesOnlyNamesThatExist) {
  std::ifstream file(KILN_SOURCE_DIR "/deploy/dashboards/kiln.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(text.empty());
  size_t names = 0;
  for (size_t at = text.find("kiln_"); at != std::string::npos; at = text.find("kiln_", at + 1)) {
    std::string name =
        text.substr(at, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at) - at);
    for (const char* suffix : {"_bucket", "_count", "_sum"}) {
      if (name.ends_with(suffix)) {
        name = name.substr(0, name.size() - std::strlen(suffix));
      }
    }
    const auto table = ops::MetricTable();
    EXPECT_TRUE(std::any_of(table.begin(), table.end(), [&](const ops::MetricRow& row) {
      return row.name == name;
    })) << name;
    ++names;
  }
  EXPECT_GT(names, 10u);
}

class Traces : public Operator {
 protected:
  // Compiles the same variant under this id; the names of the spans of the call.
  std::set<std::string> SpansOfCompile(const std::string& id) {
    grpc::ClientContext context;
    context.AddMetadata("traceparent", "00-" + id + "-b7ad6b7169203331-01");
    v1::CompileReply compiled;
    EXPECT_TRUE(compile->Compile(&context, RequestOf(GoodSource()), &compiled).ok());
    v1::GetStatusRequest request;
    request.set_trace_id(id);
    v1::ServerStatus reply;
    EXPECT_TRUE(Call(&v1::AdminService::Stub::GetStatus, request, reply).ok());
    EXPECT_EQ(reply.traces_size(), 1);
    EXPECT_EQ(reply.traces(0).method(), "Compile");
    EXPECT_EQ(reply.traces(0).code(), "OK");
    std::set<std::string> names;
    for (const v1::CallTrace::Span& span : reply.traces(0).spans()) {
      names.insert(span.name());
    }
    return names;
  }
};

TEST_F(Traces, VariantInMemory_IsAnsweredWithoutAJob) {
  Start();
  EXPECT_TRUE(SpansOfCompile("1af7651916cd43dd8448eb211c80319c").contains("queue"));
  const std::set<std::string> warm = SpansOfCompile("2af7651916cd43dd8448eb211c80319c");
  EXPECT_TRUE(warm.contains("run"));
  EXPECT_FALSE(warm.contains("queue"));
}

TEST_F(Traces, Compile_ShowsWhereTheTimeWent) {
  Start();
  const std::set<std::string> names = SpansOfCompile("0af7651916cd43dd8448eb211c80319c");
  EXPECT_TRUE(names.contains("queue") && names.contains("run"));
  EXPECT_GT(names.size(), 3u);  // stages
  v1::GetStatusRequest request;
  v1::ServerStatus reply;
  request.set_trace_id("00000000000000000000000000000000");
  EXPECT_EQ(Call(&v1::AdminService::Stub::GetStatus, request, reply).error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(detail.reason(), "UNKNOWN_TRACE");
}

TEST_F(Operator, Status_TellsMemoryConnectionsAndTransports) {
  Start();
  v1::ServerStatus status;
  ASSERT_TRUE(Call(&v1::AdminService::Stub::GetStatus, v1::GetStatusRequest(), status).ok());
  EXPECT_GT(status.memory().resident(), 1u << 20);
  EXPECT_GT(status.memory().soft_limit(), 0u);
  EXPECT_LT(status.memory().soft_limit(), status.memory().hard_limit());
  EXPECT_EQ(status.connections(), 1u);
}

TEST_F(Operator, CrashOfTheRunBefore_IsTold) {
  std::filesystem::create_directories(folder.path() + "/cache");
  std::ofstream(folder.path() + "/cache/crash-7.txt") << "kilnd ended by SIGSEGV\n";
  Start();
  v1::ServerStatus status;
  ASSERT_TRUE(Call(&v1::AdminService::Stub::GetStatus, v1::GetStatusRequest(), status).ok());
  EXPECT_NE(status.last_crash().find("SIGSEGV"), std::string::npos);
}

TEST_F(Operator, ReloadConfig_TakesWhatItCanAndNamesTheRest) {
  const std::string path = folder.path() + "/kilnd.toml";
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  const auto load = [&] {
    return LoadConfig({.flags = {{"listen.unix", folder.path() + "/run/kilnd.sock"},
                                 {"cache.dir", folder.path() + "/cache"}},
                       .file = path,
                       .environment = [](const std::string&) { return std::nullopt; }});
  };
  write("[log]\nlevel = \"info\"\n");
  StartWith([&](auto& o) {
    o.config = load().value();
    o.reload = load;
  });
  write("[log]\nlevel = \"error\"\n[jobs]\nworkers = 7\n[lifecycle]\ndrain_timeout = \"3s\"\n");
  v1::ReloadConfigReply reply;
  ASSERT_TRUE(Call(&v1::AdminService::Stub::ReloadConfig, v1::ReloadConfigRequest(), reply).ok());
  EXPECT_EQ((std::vector<std::string>{reply.changed().begin(), reply.changed().end()}),
            (std::vector<std::string>{"lifecycle.drain_timeout", "log.level"}));
  EXPECT_EQ((std::vector<std::string>{reply.needs_restart().begin(), reply.needs_restart().end()}),
            std::vector<std::string>{"jobs.workers"});
  write("[log]\nlevel = \"loud\"\n");
  EXPECT_EQ(
      Call(&v1::AdminService::Stub::ReloadConfig, v1::ReloadConfigRequest(), reply).error_code(),
      grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(detail.reason(), "BAD_CONFIG");
}

TEST_F(Operator, SetLogLevel_TakesKnownLevelsOnly) {
  Start();
  v1::SetLogLevelRequest request;
  v1::SetLogLevelReply reply;
  for (const char* level : {"error", "warn", "warning", "info", "debug"}) {
    request.set_level(level);
    EXPECT_TRUE(Call(&v1::AdminService::Stub::SetLogLevel, request, reply).ok()) << level;
  }
  request.set_level("loud");
  EXPECT_EQ(Call(&v1::AdminService::Stub::SetLogLevel, request, reply).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(Operator, Jobs_AreListedAndKilled) {
  Start();
  v1::ListJobsReply jobs;
  ASSERT_TRUE(Call(&v1::AdminService::Stub::ListJobs, v1::ListJobsRequest(), jobs).ok());
  EXPECT_EQ(jobs.jobs_size(), 0);
  v1::ListJobsRequest request;
  request.set_page_token("x");
  EXPECT_EQ(Call(&v1::AdminService::Stub::ListJobs, request, jobs).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(detail.reason(), "BAD_PAGE_TOKEN");
  v1::KillJobRequest kill;
  v1::KillJobReply killed;
  for (const auto& [id, code] : {std::pair{"4711", grpc::StatusCode::NOT_FOUND},
                                 std::pair{"", grpc::StatusCode::INVALID_ARGUMENT},
                                 std::pair{"-1", grpc::StatusCode::INVALID_ARGUMENT}}) {
    kill.set_id(id);
    EXPECT_EQ(Call(&v1::AdminService::Stub::KillJob, kill, killed).error_code(), code) << id;
  }
}

TEST_F(Operator, Connections_AreLimited) {
  constexpr uint32_t kMost = 8;
  StartWith([](auto& o) { o.config.max_connections = kMost; });
  const auto connect = [this] {
    grpc::ChannelArguments own;
    own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel("unix:" + daemon->socket(), grpc::InsecureChannelCredentials(),
                                     own);
  };
  constexpr const char* kInfo = "/kiln.v1.AdminService/GetServerInfo";
  std::vector<std::shared_ptr<grpc::Channel>> open;
  for (uint32_t i = 0; i < kMost; ++i) {  // limit - 1 and limit
    open.push_back(connect());
    EXPECT_TRUE(CallEmpty(open.back(), kInfo).ok()) << i;
  }
  EXPECT_EQ(CallEmpty(connect(), kInfo).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(CallEmpty(open.front(), kInfo).ok());
  open.pop_back();
  // Until the daemon has seen it go.
  EXPECT_TRUE(WaitUntil([&] { return CallEmpty(connect(), kInfo).ok(); }));
}

TEST_F(Operator, AboveTheHardLimit_BatchWorkIsRefusedAndInteractiveIsNot) {
  StartWith([](auto& o) {
    o.config.memory_soft_percent = 0;
    o.config.memory_hard_percent = 0;
  });
  (void)daemon->Wait(Duration::zero());  // looks at the memory
  EXPECT_EQ(Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK);
  grpc::ClientContext context;
  v1::StartBatchReply reply;
  const grpc::Status status = batch->StartBatch(&context, BatchOf(GoodSource()), &reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_GT(DetailOf(context).retry_after_ms(), 0u);
  v1::ServerStatus shown;
  ASSERT_TRUE(Call(&v1::AdminService::Stub::GetStatus, v1::GetStatusRequest(), shown).ok());
  EXPECT_EQ(shown.health(), v1::ServerStatus::DEGRADED);
  EXPECT_TRUE(std::ranges::any_of(shown.reasons(), [](const std::string& reason) {
    return reason.starts_with("memory-pressure");
  }));
}

}  // namespace
}  // namespace kiln::server
