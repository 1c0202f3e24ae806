// SPDX-License-Identifier: MIT
// AdminService (spec/daemon 4.6). What a caller sees depends on who he is: the owner sees paths,
// administrators see warnings and caches, everybody else sees figures.
#include "server/rpc/admin_service.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unistd.h>

#include "compiler/base/printable.h"
#include "compiler/base/version.h"
#include "compiler/driver/fingerprint.h"
#include "proto/kiln/v1/admin.grpc.pb.h"
#include "server/ops/log_levels.h"
#include "server/ops/machine.h"
#include "server/reload/subscriptions.h"
#include "server/rpc/actor_of.h"
#include "server/rpc/calls/cache_admin_calls.h"
#include "server/rpc/calls/compile_calls.h"
#include "server/rpc/limit_table.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/paging.h"
#include "server/rpc/messages/request_error.h"
#include "server/rpc/reactors/bytes_call.h"
#include "server/rpc/reactors/host.h"
#include "server/rpc/reactors/stream_call.h"
#include "server/rpc/transport/rpc_server.h"

namespace kiln::rpc {
namespace {

uint64_t Milliseconds(Duration duration) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

constexpr size_t kMaxComponent = 64;
// A trace is asked for shortly after its call, so its records are among the latest; all of the ring
// need not be searched.
constexpr size_t kExplainsLookedAt = 1000;  // for the stages of a trace

// Paths of files are the owner's alone.
void InfoTo(const Host& host, const ops::Principal& who, v1::ServerInfo& out) {
  if (who.party.is_owner()) {
    out.set_config_file(WellFormed(host.config_file));
    out.set_tokens_file(WellFormed(host.tokens_file));
  }
  out.set_version(std::string(Version()));
  out.set_build_id(driver::BackFingerprint().hex());
  const auto add = [&](const char* component, const Hash128& id, bool is_private) {
    v1::ServerInfo::Fingerprint& fingerprint = *out.add_fingerprints();
    fingerprint.set_component(component);
    fingerprint.set_id(IdBytes(id));
    fingerprint.set_release(!is_private);
  };
  for (const driver::FrontEnd& front : driver::kFrontEnds) {
    add(front.component, driver::FrontFingerprint(front.language),
        driver::IsPrivateFront(front.language));
  }
  add("back.spirv", driver::BackFingerprint(), driver::IsPrivateBack());
  out.set_api_min(1);
  out.set_api_max(1);
  // What a client may rely on beyond the range of the API. A feature that is taken away must leave
  // this list first.
  for (const char* feature :
       {"compile", "fetch", "batch", "watch", "explain", "inspect", "pack", "cache", "spirv",
        "wgsl", "meta", "msl", "glsl", "hlsl", "val", "opt"}) {
    out.add_features(feature);
  }
  // All limits are in one list, which tests walk as well. See spec/daemon 10
  for (const LimitLine& limit : LimitTable(host)) {
    v1::ServerInfo::Limit& shown = *out.add_limits();
    shown.set_name(limit.name);
    shown.set_value(limit.value);
    shown.set_kind(std::string(1, limit.kind));
  }
  if (who.party.is_owner()) {
    out.add_transports("unix:" + host.socket);
  }
  if (!host.tcp.empty()) {
    out.add_transports("tcp:" + host.tcp);
  }
  out.set_uptime_ms(Milliseconds(host.state.Uptime()));
  out.set_started_by(host.started_by);
  out.set_pid(static_cast<uint64_t>(getpid()));
}

uint64_t Microseconds(Duration duration) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
}

// Names of lanes are part of the protocol.
const char* LaneText(jobs::Lane lane) {
  return lane == jobs::Lane::kInteractive ? "interactive" : "batch";
}

// Calls of a trace, and the stages of what they compiled. Errors: kNotFound.
// Two sources are joined here: the ring of calls knows when a call waited and ran, the explain
// records know what compiling took. Neither knows the other.
Result<void> TracesTo(const Host& host, Engine& engine, const std::string& id,
                      v1::ServerStatus& out) {
  for (const ops::CallTrace& trace : host.traces.Find(id)) {
    v1::CallTrace& row = *out.add_traces();
    row.set_id(trace.id);
    row.set_method(std::string(trace.method));
    row.set_code(trace.code);
    row.set_at(Milliseconds(trace.at));
    row.set_us(Microseconds(trace.length));
    for (const ops::TraceSpan& span : trace.spans) {
      v1::CallTrace::Span& shown = *row.add_spans();
      shown.set_name(std::string(span.name));
      shown.set_start_us(Microseconds(span.start));
      shown.set_us(Microseconds(span.length));
    }
  }
  // The id comes from the caller and goes into an error text, so it is cut.
  if (out.traces().empty()) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "no call of trace '" + id.substr(0, 64) + "' is remembered",
                 .reason = "UNKNOWN_TRACE"};
  }
  // The records name the trace and not the call. A trace has one call as a rule, so the stages are
  // shown below the last one.
  for (const auto& record : engine.explains.Last(kExplainsLookedAt)) {
    uint64_t start = 0;  // stages follow each other, from some point of the run on
    for (const auto& [stage, us] : record->stage_us) {
      if (record->trace == id) {
        v1::CallTrace::Span& shown = *out.mutable_traces(out.traces_size() - 1)->add_spans();
        shown.set_name(stage);
        shown.set_start_us(start);
        shown.set_us(us);
      }
      start += us;
    }
  }
  return {};
}

// What is known from the start on. Warnings name files and callers: they are for administrators.
void StatusTo(const Host& host, const ops::Principal& who, v1::ServerStatus& out) {
  out.mutable_memory()->set_resident(ops::ResidentBytes());
  out.mutable_memory()->set_soft_limit(host.memory_soft);
  out.mutable_memory()->set_hard_limit(host.memory_hard);
  out.set_connections(host.connections.Count());
  // Age of the job that has waited for longest in each lane; those that run do not wait any more.
  std::array<Duration, jobs::kLaneCount> oldest{};
  for (const jobs::JobRow& job : host.queue.List()) {
    Duration& age = oldest[static_cast<size_t>(job.lane)];
    age = job.running ? age : std::max(age, job.age);
  }
  out.set_health(static_cast<v1::ServerStatus::Health>(host.state.health()));
  for (const std::string& reason : host.state.reasons()) {
    out.add_reasons(reason);
  }
  if (const std::string by = host.slowed_by(); !by.empty()) {
    out.add_reasons("batch slowed: " + by + " pressure");
  }
  for (const WorkerRow& worker : host.worker_rows()) {
    v1::ServerStatus::Worker& shown = *out.add_workers();
    shown.set_pid(worker.pid);
    // Names of recipes and sources are bytes of a client. A reply has UTF-8 only: for one wrong
    // byte its reader would refuse the whole message.
    shown.set_job(WellFormed(worker.job));
    shown.set_jobs_done(worker.jobs_done);
    shown.set_memory(worker.memory);
  }
  const jobs::QueueStatus queue = host.queue.Status();
  for (const jobs::Lane lane : {jobs::Lane::kInteractive, jobs::Lane::kBatch}) {
    v1::ServerStatus::Lane& shown = *out.add_lanes();
    shown.set_name(LaneText(lane));
    shown.set_queued(queue.waiting[static_cast<size_t>(lane)]);
    shown.set_running(queue.running[static_cast<size_t>(lane)]);
    shown.set_oldest_ms(Milliseconds(oldest[static_cast<size_t>(lane)]));
  }
  const bool is_admin = who.scope == ops::Scope::kAdmin;
  for (const ops::KeptWarning& warning :
       is_admin ? host.warnings() : std::vector<ops::KeptWarning>()) {
    v1::ServerStatus::Warning& shown = *out.add_warnings();
    shown.set_at(Milliseconds(warning.at));
    shown.set_text(WellFormed(warning.text));
  }
  out.set_uptime_ms(Milliseconds(host.state.Uptime()));
}

// For administrators: fill and hits of a cache tell what others asked for.
void CachesTo(const Host& host, v1::ServerStatus& out) {
  for (const CacheUsage& usage : host.caches()) {
    v1::ServerStatus::Cache& shown = *out.add_caches();
    shown.set_name(usage.name);
    shown.set_bytes(usage.bytes);
    shown.set_max_bytes(usage.max_bytes);
    shown.set_entries(usage.entries);
    shown.set_max_entries(usage.max_entries);
    shown.set_hits(usage.hits);
    shown.set_misses(usage.misses);
  }
}

// `check` asks them on the network now; without it what the last call saw is told.
void UpstreamsTo(const Host& host, bool check, const cache::Call& call, v1::ServerStatus& out) {
  for (const UpstreamRow& row : host.upstreams(check, call)) {
    v1::ServerStatus::Upstream& shown = *out.add_upstreams();
    shown.set_url(WellFormed(row.url));
    shown.set_state(!row.cause.empty() ? v1::ServerStatus::Upstream::FAILS
                    : row.asked        ? v1::ServerStatus::Upstream::ANSWERS
                                       : v1::ServerStatus::Upstream::NOT_ASKED);
    shown.set_cause(WellFormed(row.cause));
    shown.set_since(static_cast<uint64_t>(row.since_s) * 1000);
    shown.set_latency_us(static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(row.latency).count()));
    shown.set_writes(row.writes);
  }
}

// What is behind the services once the store is open.
void StatusTo(const Host& host, Engine& engine, const ops::Principal& who, v1::ServerStatus& out) {
  if (who.scope == ops::Scope::kAdmin) {  // it names a file, as warnings do
    out.set_last_crash(WellFormed(host.last_crash()));
  }
  const reload::Subscriptions::Status watches = engine.watches.GetStatus();
  out.set_watch_sessions(watches.sessions);
  out.set_subscribers(watches.subscribers);
  // Batches that have ended are left out: a status is about now, and ListBatches has them all.
  for (const compile::BatchSummary& summary : engine.batches.List()) {
    const v1::Batch::State state = ToProto(summary.state);
    if (state == v1::Batch::QUEUED || state == v1::Batch::RUNNING || state == v1::Batch::PAUSED) {
      v1::ServerStatus::Batch& shown = *out.add_batches();
      shown.set_id(IdBytes(summary.id));
      shown.set_project(WellFormed(summary.project));
      shown.set_state(v1::Batch::State_Name(state));
    }
  }
}

// The whole text must be the number.
std::optional<uint64_t> NumberFrom(const std::string& text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

// In the order of their numbers, which only grow: a token is the number of the last one. A job that
// ends between two pages is missing and shifts no other.
Result<void> JobsTo(jobs::JobQueue& queue, const v1::ListJobsRequest& request,
                    v1::ListJobsReply& reply) {
  const std::optional<uint64_t> after =
      request.page_token().empty() ? std::optional<uint64_t>(0) : NumberFrom(request.page_token());
  if (!after.has_value()) {
    return BadPageToken();
  }
  const uint32_t size = PageSize(request.page_size());
  for (const jobs::JobRow& job : queue.List()) {
    if (job.id <= *after) {
      continue;
    }
    if (static_cast<uint32_t>(reply.jobs_size()) == size) {
      reply.set_next_page_token(reply.jobs(reply.jobs_size() - 1).id());
      break;
    }
    v1::JobInfo& row = *reply.add_jobs();
    row.set_id(std::to_string(job.id));
    row.set_lane(LaneText(job.lane));
    row.set_tenant(job.tenant);
    row.set_stage((job.running ? "runs " : "waits ") + job.name);
    row.set_age_ms(Milliseconds(job.age));
    row.set_cpu_ms(Milliseconds(job.cpu));
    row.set_waiters(1);
  }
  return {};
}

// Status, jobs, drain and the like are answered in gRPC's thread and need no place in the queue.
// Whatever reads or changes the store is a job, as it may take time.
// All methods read bytes: see bytes_call.h.
using RawGetServerInfo =
    v1::AdminService::WithRawCallbackMethod_GetServerInfo<v1::AdminService::CallbackService>;
using RawGetStatus = v1::AdminService::WithRawCallbackMethod_GetStatus<RawGetServerInfo>;
using RawGetCacheStats = v1::AdminService::WithRawCallbackMethod_GetCacheStats<RawGetStatus>;
using RawGcCache = v1::AdminService::WithRawCallbackMethod_GcCache<RawGetCacheStats>;
using RawVerifyCache = v1::AdminService::WithRawCallbackMethod_VerifyCache<RawGcCache>;
using RawRepairCache = v1::AdminService::WithRawCallbackMethod_RepairCache<RawVerifyCache>;
using RawPin = v1::AdminService::WithRawCallbackMethod_Pin<RawRepairCache>;
using RawUnpin = v1::AdminService::WithRawCallbackMethod_Unpin<RawPin>;
using RawListPins = v1::AdminService::WithRawCallbackMethod_ListPins<RawUnpin>;
using RawListQuarantine = v1::AdminService::WithRawCallbackMethod_ListQuarantine<RawListPins>;
using RawListJobs = v1::AdminService::WithRawCallbackMethod_ListJobs<RawListQuarantine>;
using RawKillJob = v1::AdminService::WithRawCallbackMethod_KillJob<RawListJobs>;
using RawClearNegative = v1::AdminService::WithRawCallbackMethod_ClearNegative<RawKillJob>;
using RawDrain = v1::AdminService::WithRawCallbackMethod_Drain<RawClearNegative>;
using RawShutdown = v1::AdminService::WithRawCallbackMethod_Shutdown<RawDrain>;
using RawReloadConfig = v1::AdminService::WithRawCallbackMethod_ReloadConfig<RawShutdown>;
class AdminService final
    : public v1::AdminService::WithRawCallbackMethod_SetLogLevel<RawReloadConfig> {
 public:
  AdminService(const Host& host, Engine& engine) : host_(host), engine_(engine) {}

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* reply) override {
    return AtOnce<v1::GetServerInfoRequest, v1::ServerInfo>(
        *context, "GetServerInfo", *request, *reply,
        [this](const CallContext& frame, const v1::GetServerInfoRequest&,
               v1::ServerInfo& reply) -> Result<void> {
          InfoTo(host_, frame.principal(), reply);
          return {};
        });
  }

  // Asking the upstreams takes time on the network, so only then the call is a job. Otherwise the
  // status is answered at once, also where the queue is full: it is what people look at when
  // something is wrong.
  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* reply) override {
    return AnswerBytes<v1::GetStatusRequest, v1::ServerStatus>(
        host_, *context, "GetStatus", *request, *reply,
        [this](const CallContext& frame, const v1::GetStatusRequest& request,
               const cache::Call& call, v1::ServerStatus& reply, v1::ErrorDetail&) {
          return request.check_upstreams() && call.deadline == cache::kAtOnce
                     ? Result<void>(NeedsWork())
                     : Status(frame.principal(), request, call, reply);
        },
        Needs::kNothing);
  }

  // Outside of the queue: an operator must be able to see and to kill what fills it.
  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* reply) override {
    return AtOnce<v1::ListJobsRequest, v1::ListJobsReply>(
        *context, "ListJobs", *request, *reply,
        [this](const CallContext&, const v1::ListJobsRequest& request, v1::ListJobsReply& reply) {
          return JobsTo(host_.queue, request, reply);
        });
  }

  grpc::ServerUnaryReactor* KillJob(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* reply) override {
    return AtOnce<v1::KillJobRequest, v1::KillJobReply>(
        *context, "KillJob", *request, *reply,
        [this](CallContext& frame, const v1::KillJobRequest& request, v1::KillJobReply&) {
          frame.SetObject(request.id());
          const std::optional<uint64_t> id = NumberFrom(request.id());
          return id.has_value() ? host_.queue.Kill(*id)
                                : Result<void>(Malformed("id", "a number of ListJobs"));
        });
  }

  grpc::ServerUnaryReactor* GetCacheStats(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* reply) override {
    return Job<v1::GetCacheStatsRequest, v1::CacheStats>(
        *context, "GetCacheStats", *request, *reply,
        [this](const CallContext& frame, const v1::GetCacheStatsRequest&, const cache::Call&,
               v1::CacheStats& reply) {
          const bool owner = frame.principal().party.is_owner();
          return CacheStatsTo(engine_, owner ? Paths::kWhole : Paths::kNamesOnly, reply);
        });
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* GcCache(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request) override {
    return Maintenance<v1::GcCacheRequest>(
        *context, "GcCache", *request,
        [this](const v1::GcCacheRequest& request, const cache::Call& call,
               const PushMaintenance& push) { return rpc::GcCache(engine_, request, call, push); });
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* VerifyCache(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override {
    return Maintenance<v1::VerifyCacheRequest>(
        *context, "VerifyCache", *request,
        [this](const v1::VerifyCacheRequest& request, const cache::Call& call,
               const PushMaintenance& push) {
          return rpc::VerifyCache(engine_, request, call, push);
        });
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* RepairCache(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override {
    return Maintenance<v1::RepairCacheRequest>(
        *context, "RepairCache", *request,
        [this](const v1::RepairCacheRequest&, const cache::Call& call,
               const PushMaintenance& push) { return rpc::RepairCache(engine_, call, push); });
  }

  grpc::ServerUnaryReactor* Pin(grpc::CallbackServerContext* context,
                                const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) override {
    return Job<v1::PinRequest, v1::PinInfo>(
        *context, "Pin", *request, *reply,
        [this](CallContext& frame, const v1::PinRequest& request, const cache::Call& call,
               v1::PinInfo& reply) {
          frame.SetObject(request.name());
          return rpc::Pin(engine_, request, ActorOf(frame.principal()), call, reply);
        });
  }

  grpc::ServerUnaryReactor* Unpin(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* reply) override {
    return Job<v1::UnpinRequest, v1::UnpinReply>(
        *context, "Unpin", *request, *reply,
        [this](CallContext& frame, const v1::UnpinRequest& request, const cache::Call&,
               v1::UnpinReply&) {
          frame.SetObject(request.name());
          return rpc::Unpin(engine_, request, ActorOf(frame.principal()));
        });
  }

  grpc::ServerUnaryReactor* ListPins(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* reply) override {
    return Job<v1::ListPinsRequest, v1::ListPinsReply>(
        *context, "ListPins", *request, *reply,
        [this](const CallContext&, const v1::ListPinsRequest& request, const cache::Call&,
               v1::ListPinsReply& reply) { return rpc::ListPins(engine_, request, reply); });
  }

  grpc::ServerUnaryReactor* ListQuarantine(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* reply) override {
    return Job<v1::ListQuarantineRequest, v1::ListQuarantineReply>(
        *context, "ListQuarantine", *request, *reply,
        [this](const CallContext&, const v1::ListQuarantineRequest& request, const cache::Call&,
               v1::ListQuarantineReply& reply) {
          return rpc::ListQuarantine(engine_, request, reply);
        });
  }

  grpc::ServerUnaryReactor* ClearNegative(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* reply) override {
    return Job<v1::ClearNegativeRequest, v1::ClearNegativeReply>(
        *context, "ClearNegative", *request, *reply,
        [this](const CallContext&, const v1::ClearNegativeRequest& request, const cache::Call& call,
               v1::ClearNegativeReply& reply) {
          return rpc::ClearNegative(engine_, request, call, reply);
        });
  }

  grpc::ServerUnaryReactor* Drain(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* reply) override {
    return AtOnce<v1::DrainRequest, v1::DrainReply>(
        *context, "Drain", *request, *reply,
        [this](const CallContext&, const v1::DrainRequest& request,
               v1::DrainReply& reply) -> Result<void> {
          // What is counted is what the drain will wait for: the reply is sent before any of it
          // ends.
          KILN_TRY(const Duration timeout, DurationFromMs("timeout_ms", request.timeout_ms()));
          const jobs::QueueStatus queue = host_.queue.Status();
          for (size_t lane = 0; lane < jobs::kLaneCount; ++lane) {
            reply.set_running(reply.running() + queue.running[lane] + queue.waiting[lane]);
          }
          host_.drain(timeout);
          return {};
        });
  }

  // Rows that need a restart are named and not applied; the caller shows both lists.
  grpc::ServerUnaryReactor* ReloadConfig(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* reply) override {
    return AtOnce<v1::ReloadConfigRequest, v1::ReloadConfigReply>(
        *context, "ReloadConfig", *request, *reply,
        [this](const CallContext&, const v1::ReloadConfigRequest&,
               v1::ReloadConfigReply& reply) -> Result<void> {
          KILN_TRY(const ReloadReport changed, host_.reload());
          reply.mutable_changed()->Add(changed.at_once.begin(), changed.at_once.end());
          reply.mutable_needs_restart()->Add(changed.at_restart.begin(), changed.at_restart.end());
          return {};
        });
  }

  grpc::ServerUnaryReactor* SetLogLevel(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override {
    return AtOnce<v1::SetLogLevelRequest, v1::SetLogLevelReply>(
        *context, "SetLogLevel", *request, *reply,
        [this](CallContext& frame, const v1::SetLogLevelRequest& request,
               v1::SetLogLevelReply&) -> Result<void> {
          frame.SetObject(request.component() + "=" + request.level());
          const auto level = ops::ParseLogLevel(request.level());
          if (!level.has_value() || request.component().size() > kMaxComponent) {
            return Malformed(level.has_value() ? "component" : "level",
                             "error, warn, info or debug, of a component with a short name");
          }
          host_.set_log_level(request.component(), *level);
          return {};
        });
  }

  grpc::ServerUnaryReactor* Shutdown(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* reply) override {
    return AtOnce<v1::ShutdownRequest, v1::ShutdownReply>(
        *context, "Shutdown", *request, *reply,
        [this](const CallContext&, const v1::ShutdownRequest&, v1::ShutdownReply&) -> Result<void> {
          host_.shut_down();
          return {};
        });
  }

 private:
  // Before the store is open the engine behind it is not there, and only what the daemon itself
  // knows is told. See spec/daemon 14.1
  Result<void> Status(const ops::Principal& who, const v1::GetStatusRequest& request,
                      const cache::Call& call, v1::ServerStatus& reply) {
    const bool ready = host_.state.Ready();
    if (ready && !request.trace_id().empty()) {
      return TracesTo(host_, engine_, request.trace_id(), reply);
    }
    StatusTo(host_, who, reply);
    if (ready) {
      const bool is_admin = who.scope == ops::Scope::kAdmin;
      StatusTo(host_, engine_, who, reply);
      if (is_admin) {
        CachesTo(host_, reply);
      }
      UpstreamsTo(host_, request.check_upstreams() && is_admin, call, reply);
    }
    return {};
  }

  // For what reads or changes the store and ends in one message.
  template <class Request, class Reply, class Body>
  grpc::ServerUnaryReactor* Job(grpc::CallbackServerContext& context, std::string_view method,
                                const grpc::ByteBuffer& request, grpc::ByteBuffer& reply,
                                Body body) {
    return AnswerBytes<Request, Reply>(
        host_, context, method, request, reply,
        [body = std::move(body)](CallContext& frame, const Request& request,
                                 const cache::Call& call, Reply& reply,
                                 v1::ErrorDetail&) { return body(frame, request, call, reply); });
  }

  // Maintenance takes minutes, so it tells how far it is: each is a stream of progress with a
  // summary at its end. The stream's job is one of the queue, so it waits for its place like any
  // other work.
  template <class Request, class Body>
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Maintenance(grpc::CallbackServerContext& context,
                                                          std::string_view method,
                                                          const grpc::ByteBuffer& request,
                                                          Body body) {
    return StartStream<StreamCall<Request, v1::CacheMaintenance>>(
        host_, context, method, request,
        [body = std::move(body)](const ops::Principal&, const Request& request,
                                 const cache::Call& call, const PushMaintenance& push,
                                 v1::ErrorDetail&) { return body(request, call, push); });
  }

  template <class Request, class Reply, class Body>
  grpc::ServerUnaryReactor* AtOnce(grpc::CallbackServerContext& context, std::string_view method,
                                   const grpc::ByteBuffer& request, grpc::ByteBuffer& reply,
                                   Body body) {
    return AnswerBytes<Request, Reply>(
        host_, context, method, request, reply,
        [body = std::move(body)](CallContext& frame, const Request& request, const cache::Call&,
                                 Reply& reply,
                                 v1::ErrorDetail&) { return body(frame, request, reply); },
        Needs::kNothing);
  }

  const Host& host_;
  Engine& engine_;
};

}  // namespace

std::shared_ptr<grpc::Service> MakeAdminService(const Host& host, Engine& engine) {
  return std::make_shared<AdminService>(host, engine);
}

}  // namespace kiln::rpc
