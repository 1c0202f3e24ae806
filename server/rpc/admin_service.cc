// SPDX-License-Identifier: MIT
#include <array>
#include <unistd.h>

#include "compiler/driver/fingerprint.h"
#include "proto/kiln/v1/admin.grpc.pb.h"
#include "server/rpc/cache_admin_calls.h"
#include "server/rpc/services.h"
#include "server/rpc/stream_call.h"

namespace kiln::rpc {
namespace {

uint64_t Milliseconds(Duration duration) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

struct ShownLimit {
  const char* name;
  uint64_t value;
};

// Those of class S that this build enforces.
constexpr std::array<ShownLimit, 10> kLimits = {{{"request message", kMaxRequest},
                                                 {"stream message", kMaxStreamMessage},
                                                 {"inline source", kMaxInlineSource},
                                                 {"source file", kMaxSourceFile},
                                                 {"source set of a manifest", kMaxSourceSet},
                                                 {"sources per program", kMaxSources},
                                                 {"programs per manifest", kMaxPrograms},
                                                 {"axis values listed", kMaxAxisValues},
                                                 {"digests per FindMissing", kMaxDigests},
                                                 {"pack entries", kMaxPackEntries}}};

void InfoTo(const Host& host, v1::ServerInfo& out) {
  out.set_version(std::string(kVersion));
  out.set_build_id(driver::BackFingerprint().hex());
  const auto add = [&](const char* component, const Hash128& id) {
    v1::ServerInfo::Fingerprint& fingerprint = *out.add_fingerprints();
    fingerprint.set_component(component);
    fingerprint.set_id(IdBytes(id));
  };
  add("front.rpl", driver::FrontFingerprint(ir::Language::kRpl));
  add("back.spirv", driver::BackFingerprint());
  out.set_api_min(1);
  out.set_api_max(1);
  for (const char* feature :
       {"compile", "fetch", "batch", "explain", "pack", "cache", "spirv", "meta"}) {
    out.add_features(feature);
  }
  for (const ShownLimit& limit : kLimits) {
    v1::ServerInfo::Limit& shown = *out.add_limits();
    shown.set_name(limit.name);
    shown.set_value(limit.value);
    shown.set_kind("S");
  }
  out.add_transports("unix:" + host.socket);
  out.set_uptime_ms(Milliseconds(host.state.Uptime()));
  out.set_started_by(host.started_by);
  out.set_pid(static_cast<uint64_t>(getpid()));
}

void StatusTo(const Host& host, build::Batches& batches, v1::ServerStatus& out) {
  out.set_health(static_cast<v1::ServerStatus::Health>(host.state.health()));
  for (const std::string& reason : host.state.reasons()) {
    out.add_reasons(reason);
  }
  const jobs::QueueStatus queue = host.queue.Status();
  for (const jobs::Lane lane : {jobs::Lane::kInteractive, jobs::Lane::kBatch}) {
    v1::ServerStatus::Lane& shown = *out.add_lanes();
    shown.set_name(lane == jobs::Lane::kInteractive ? "interactive" : "batch");
    shown.set_queued(queue.waiting[static_cast<size_t>(lane)]);
    shown.set_running(queue.running[static_cast<size_t>(lane)]);
  }
  for (const ops::KeptWarning& warning : host.warnings()) {
    v1::ServerStatus::Warning& shown = *out.add_warnings();
    shown.set_at(Milliseconds(warning.at));
    shown.set_text(warning.text);
  }
  out.set_uptime_ms(Milliseconds(host.state.Uptime()));
  for (const build::BatchSummary& summary : batches.List()) {
    const v1::Batch::State state = ToProto(summary.state);
    if (state == v1::Batch::QUEUED || state == v1::Batch::RUNNING || state == v1::Batch::PAUSED) {
      v1::ServerStatus::Batch& shown = *out.add_batches();
      shown.set_id(IdBytes(summary.id));
      shown.set_project(summary.project);
      shown.set_state(v1::Batch::State_Name(state));
    }
  }
}

class AdminService final : public v1::AdminService::CallbackService {
 public:
  AdminService(const Host& host, Engine& engine) : host_(host), engine_(engine) {}

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest* /*request*/,
                                          v1::ServerInfo* reply) override {
    return AtOnce(*context, "GetServerInfo", [this, reply] { InfoTo(host_, *reply); });
  }

  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const v1::GetStatusRequest* /*request*/,
                                      v1::ServerStatus* reply) override {
    return AtOnce(*context, "GetStatus",
                  [this, reply] { StatusTo(host_, engine_.batches, *reply); });
  }

  grpc::ServerUnaryReactor* GetCacheStats(grpc::CallbackServerContext* context,
                                          const v1::GetCacheStatsRequest* /*request*/,
                                          v1::CacheStats* reply) override {
    return Job(*context, "GetCacheStats",
               [this, reply](const cache::Call&) { return CacheStatsTo(engine_, *reply); });
  }

  grpc::ServerWriteReactor<v1::CacheMaintenance>* GcCache(
      grpc::CallbackServerContext* context, const v1::GcCacheRequest* request) override {
    return Maintenance(*context, "GcCache", [this, request](const auto& call, const auto& push) {
      return rpc::GcCache(engine_, *request, call, push);
    });
  }

  grpc::ServerWriteReactor<v1::CacheMaintenance>* VerifyCache(
      grpc::CallbackServerContext* context, const v1::VerifyCacheRequest* request) override {
    return Maintenance(*context, "VerifyCache",
                       [this, request](const auto& call, const auto& push) {
                         return rpc::VerifyCache(engine_, *request, call, push);
                       });
  }

  grpc::ServerWriteReactor<v1::CacheMaintenance>* RepairCache(
      grpc::CallbackServerContext* context, const v1::RepairCacheRequest* /*request*/) override {
    return Maintenance(*context, "RepairCache", [this](const auto& call, const auto& push) {
      return rpc::RepairCache(engine_, call, push);
    });
  }

  grpc::ServerUnaryReactor* Pin(grpc::CallbackServerContext* context, const v1::PinRequest* request,
                                v1::PinInfo* reply) override {
    return Job(*context, "Pin", [this, request, reply](const cache::Call& call) {
      return rpc::Pin(engine_, *request, call, *reply);
    });
  }

  grpc::ServerUnaryReactor* Unpin(grpc::CallbackServerContext* context,
                                  const v1::UnpinRequest* request,
                                  v1::UnpinReply* /*reply*/) override {
    return Job(*context, "Unpin",
               [this, request](const cache::Call&) { return rpc::Unpin(engine_, *request); });
  }

  grpc::ServerUnaryReactor* ListPins(grpc::CallbackServerContext* context,
                                     const v1::ListPinsRequest* request,
                                     v1::ListPinsReply* reply) override {
    return Job(*context, "ListPins", [this, request, reply](const cache::Call&) {
      return rpc::ListPins(engine_, *request, *reply);
    });
  }

  grpc::ServerUnaryReactor* ListQuarantine(grpc::CallbackServerContext* context,
                                           const v1::ListQuarantineRequest* request,
                                           v1::ListQuarantineReply* reply) override {
    return Job(*context, "ListQuarantine", [this, request, reply](const cache::Call&) {
      return rpc::ListQuarantine(engine_, *request, *reply);
    });
  }

  grpc::ServerUnaryReactor* ClearNegative(grpc::CallbackServerContext* context,
                                          const v1::ClearNegativeRequest* request,
                                          v1::ClearNegativeReply* reply) override {
    return Job(*context, "ClearNegative", [this, request, reply](const cache::Call& call) {
      return rpc::ClearNegative(engine_, *request, call, *reply);
    });
  }

  grpc::ServerUnaryReactor* Drain(grpc::CallbackServerContext* context,
                                  const v1::DrainRequest* request, v1::DrainReply* reply) override {
    return AtOnce(*context, "Drain", [this, request, reply] {
      const jobs::QueueStatus queue = host_.queue.Status();
      for (size_t lane = 0; lane < jobs::kLaneCount; ++lane) {
        reply->set_running(reply->running() + queue.running[lane] + queue.waiting[lane]);
      }
      host_.drain(std::chrono::milliseconds(request->timeout_ms()));
    });
  }

  grpc::ServerUnaryReactor* Shutdown(grpc::CallbackServerContext* context,
                                     const v1::ShutdownRequest* /*request*/,
                                     v1::ShutdownReply* /*reply*/) override {
    return AtOnce(*context, "Shutdown", [this] { host_.shut_down(); });
  }

 private:
  using MaintenanceBody = std::function<Result<void>(const cache::Call&, const PushMaintenance&)>;

  grpc::ServerUnaryReactor* Job(grpc::CallbackServerContext& context, std::string_view method,
                                std::function<Result<void>(const cache::Call&)> body) {
    return new UnaryCall(
        host_, context, method, UnaryCall::Needs::kWork,
        [body = std::move(body)](const cache::Call& call, v1::ErrorDetail&) { return body(call); });
  }

  grpc::ServerWriteReactor<v1::CacheMaintenance>* Maintenance(grpc::CallbackServerContext& context,
                                                              std::string_view method,
                                                              MaintenanceBody body) {
    return new StreamCall<v1::CacheMaintenance>(
        host_, context, method,
        [body = std::move(body)](const cache::Call& call, const PushMaintenance& push,
                                 v1::ErrorDetail&) { return body(call, push); });
  }

  grpc::ServerUnaryReactor* AtOnce(grpc::CallbackServerContext& context, std::string_view method,
                                   const std::function<void()>& body) {
    return new UnaryCall(host_, context, method, UnaryCall::Needs::kNothing,
                         [&body](const cache::Call&, v1::ErrorDetail&) -> Result<void> {
                           body();
                           return {};
                         });
  }

  const Host& host_;
  Engine& engine_;
};

}  // namespace

std::shared_ptr<grpc::Service> MakeAdminService(const Host& host, Engine& engine) {
  return std::make_shared<AdminService>(host, engine);
}

}  // namespace kiln::rpc
