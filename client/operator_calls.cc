// SPDX-License-Identifier: MIT
// What operators ask and order (spec/daemon 4.6). Reads have a short deadline, because a daemon
// that does not answer them is in trouble; calls of this service are made once and not repeated
// (spec/daemon 2.5).
#include "client/operator_calls.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "client/connection.h"
#include "client/daemon_socket.h"

namespace kiln::client {
namespace {

// Lists of names and numbers as they come; what they mean is the reader's to know.
ServerInfo InfoFrom(const v1::ServerInfo& message) {
  ServerInfo info{.version = message.version(),
                  .build_id = message.build_id(),
                  .started_by = message.started_by(),
                  .config_file = message.config_file(),
                  .tokens_file = message.tokens_file(),
                  .pid = message.pid(),
                  .uptime_ms = message.uptime_ms(),
                  .api_min = message.api_min(),
                  .api_max = message.api_max(),
                  .transports = {message.transports().begin(), message.transports().end()},
                  .features = {message.features().begin(), message.features().end()},
                  .fingerprints = {},
                  .limits = {}};
  for (const v1::ServerInfo::Fingerprint& row : message.fingerprints()) {
    info.fingerprints.push_back(
        {.component = row.component(), .id = HexOf(row.id()), .release = row.release()});
  }
  for (const v1::ServerInfo::Limit& row : message.limits()) {
    info.limits.push_back({.name = row.name(), .value = row.value(), .kind = row.kind()});
  }
  return info;
}

// The name of the health is that of the protocol and may be one that this client does not know.
ServerStatus StatusFrom(const v1::ServerStatus& message) {
  ServerStatus status;
  status.health = v1::ServerStatus::Health_Name(message.health());
  status.reasons.assign(message.reasons().begin(), message.reasons().end());
  for (const v1::ServerStatus::Lane& lane : message.lanes()) {
    status.lanes.push_back({.name = lane.name(),
                            .queued = lane.queued(),
                            .running = lane.running(),
                            .oldest_ms = lane.oldest_ms()});
  }
  for (const v1::ServerStatus::Batch& batch : message.batches()) {
    status.batches.push_back(batch.project() + " " + batch.state());
  }
  for (const v1::ServerStatus::Warning& warning : message.warnings()) {
    status.warnings.push_back({.at_ms = warning.at(), .text = warning.text()});
  }
  status.uptime_ms = message.uptime_ms();
  status.resident = message.memory().resident();
  status.soft_limit = message.memory().soft_limit();
  status.hard_limit = message.memory().hard_limit();
  status.connections = message.connections();
  status.watch_sessions = message.watch_sessions();
  status.subscribers = message.subscribers();
  status.last_crash = message.last_crash();
  for (const v1::ServerStatus::Upstream& row : message.upstreams()) {
    status.upstreams.push_back({.url = row.url(),
                                .asked = row.state() != v1::ServerStatus::Upstream::NOT_ASKED,
                                .answers = row.state() == v1::ServerStatus::Upstream::ANSWERS,
                                .writes = row.writes(),
                                .cause = row.cause(),
                                .since_ms = row.since(),
                                .latency_us = row.latency_us()});
  }
  for (const v1::ServerStatus::Cache& row : message.caches()) {
    status.caches.push_back({.name = row.name(),
                             .bytes = row.bytes(),
                             .max_bytes = row.max_bytes(),
                             .entries = row.entries(),
                             .max_entries = row.max_entries(),
                             .hits = row.hits(),
                             .misses = row.misses()});
  }
  return status;
}

}  // namespace

// The first attempt fails at once where nobody listens, which is the common case before an
// autostart. Only if somebody turns out to be there, or was a moment ago, is a second one waited
// for.
Result<ServerInfo> OperatorCalls::Ping(std::chrono::milliseconds timeout) {
  constexpr std::string_view kUnix = "unix:";
  constexpr std::chrono::milliseconds kRefused{1'000};  // whom the daemon does not let in
  return OrAgain(
      PingOnce(timeout, Waits::kNo),
      [&] {
        // If the channel is ready, the daemon itself refused, and a look at its door tells nothing
        // more.
        const bool was_reached = connection_.channel->GetState(false) == GRPC_CHANNEL_READY;
        return !was_reached && connection_.target.starts_with(kUnix)
                   ? DoorAt(connection_.target.substr(kUnix.size()))
                   : Door::kNobody;
      },
      [&](Door door) {
        return PingOnce(door == Door::kFull ? timeout : std::min(timeout, kRefused), Waits::kYes);
      });
}

// The error is explained here, where the address is known: a socket that is full, one that nobody
// serves, a certificate.
Result<ServerInfo> OperatorCalls::PingOnce(std::chrono::milliseconds timeout, Waits waits) {
  Context context;
  context.grpc.set_deadline(std::chrono::system_clock::now() + timeout);
  context.grpc.set_wait_for_ready(waits == Waits::kYes);
  v1::ServerInfo reply;
  const grpc::Status status =
      connection_.admin->GetServerInfo(&context.grpc, v1::GetServerInfoRequest(), &reply);
  if (status.ok()) {
    return InfoFrom(reply);
  }
  Error failed = connection_.ExplainReply(context.Failed(status));
  // gRPC names the path through the descriptor, which means nothing to a reader.
  const size_t at = failed.context.find(connection_.target);
  if (connection_.host_port.empty() && at != std::string::npos) {
    failed.context.replace(at, connection_.target.size(),
                           connection_.address);  // as the caller knows it
  }
  return failed;
}

Result<ServerStatus> OperatorCalls::Status(Upstreams upstreams) {
  Context context(kAnswerWithin);
  v1::GetStatusRequest request;
  request.set_check_upstreams(upstreams == Upstreams::kCheck);
  v1::ServerStatus reply;
  const grpc::Status status = connection_.admin->GetStatus(&context.grpc, request, &reply);
  // Checking upstreams is work that a daemon may refuse; what it knows of them it tells always.
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE && request.check_upstreams()) {
    return Status(Upstreams::kAsKnown);  // it drains, or is full of work
  }
  return status.ok() ? Result<ServerStatus>(StatusFrom(reply))
                     : Result<ServerStatus>(context.Failed(status));
}

// An id names a call; without one the latest calls come. The status call carries the traces, so an
// old daemon answers without them and not with an error.
Result<std::vector<CallTrace>> OperatorCalls::Traces(const std::string& id) {
  Context context(kAnswerWithin);
  v1::GetStatusRequest request;
  request.set_trace_id(id);
  v1::ServerStatus reply;
  const grpc::Status status = connection_.admin->GetStatus(&context.grpc, request, &reply);
  if (!status.ok()) {
    return context.Failed(status);
  }
  std::vector<CallTrace> traces;
  for (const v1::CallTrace& row : reply.traces()) {
    CallTrace trace{.id = row.id(),
                    .method = row.method(),
                    .code = row.code(),
                    .at_ms = row.at(),
                    .us = row.us(),
                    .spans = {}};
    for (const v1::CallTrace::Span& span : row.spans()) {
      trace.spans.push_back({.name = span.name(), .start_us = span.start_us(), .us = span.us()});
    }
    traces.push_back(std::move(trace));
  }
  return traces;
}

// By pages: the queue of a build machine has thousands of jobs.
Result<std::vector<JobRow>> OperatorCalls::Jobs() {
  std::vector<JobRow> jobs;
  v1::ListJobsRequest request;
  KILN_TRY_VOID(EachPage(*connection_.admin, &v1::AdminService::Stub::ListJobs, request,
                         [&](const v1::ListJobsReply& reply) {
                           for (const v1::JobInfo& job : reply.jobs()) {
                             jobs.push_back({.id = job.id(),
                                             .lane = job.lane(),
                                             .tenant = job.tenant(),
                                             .stage = job.stage(),
                                             .age_ms = job.age_ms(),
                                             .cpu_ms = job.cpu_ms()});
                           }
                         }));
  return jobs;
}

// The id is the one of Jobs(). A job that ended meanwhile is an error of the daemon, told as it is.
Result<void> OperatorCalls::KillJob(const std::string& id) {
  Context context(kAnswerWithin);
  v1::KillJobRequest request;
  request.set_id(id);
  v1::KillJobReply reply;
  const grpc::Status status = connection_.admin->KillJob(&context.grpc, request, &reply);
  return status.ok() ? Result<void>() : Result<void>(context.Failed(status));
}

// The answer comes when draining has begun and not when it is over. Who waits for the end looks at
// the process or at the status.
Result<void> OperatorCalls::Drain() {
  Context context(kAnswerWithin);
  v1::DrainReply reply;
  const grpc::Status status = connection_.admin->Drain(&context.grpc, v1::DrainRequest(), &reply);
  return status.ok() ? Result<void>() : Result<void>(context.Failed(status));
}

// Unlike Drain it ends running work. What was acknowledged as durable is not lost (spec/cache 6.5).
Result<void> OperatorCalls::Shutdown() {
  Context context(kAnswerWithin);
  v1::ShutdownReply reply;
  const grpc::Status status =
      connection_.admin->Shutdown(&context.grpc, v1::ShutdownRequest(), &reply);
  return status.ok() ? Result<void>() : Result<void>(context.Failed(status));
}

// Keys that need a restart are named and keep their old values until then (spec/daemon 15).
Result<OperatorCalls::ReloadOutcome> OperatorCalls::ReloadConfig() {
  Context context(kAnswerWithin);
  v1::ReloadConfigReply reply;
  const grpc::Status status =
      connection_.admin->ReloadConfig(&context.grpc, v1::ReloadConfigRequest(), &reply);
  if (!status.ok()) {
    return context.Failed(status);
  }
  return ReloadOutcome{
      .changed = {reply.changed().begin(), reply.changed().end()},
      .needs_restart = {reply.needs_restart().begin(), reply.needs_restart().end()}};
}

Result<void> OperatorCalls::SetLogLevel(const std::string& component, const std::string& level) {
  Context context(kAnswerWithin);
  v1::SetLogLevelRequest request;
  request.set_component(component);
  request.set_level(level);
  v1::SetLogLevelReply reply;
  const grpc::Status status = connection_.admin->SetLogLevel(&context.grpc, request, &reply);
  return status.ok() ? Result<void>() : Result<void>(context.Failed(status));
}

}  // namespace kiln::client
