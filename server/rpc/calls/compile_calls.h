// SPDX-License-Identifier: MIT
// What CompileService does, without the transport: request messages -> reply messages. Runs inside
// jobs. See spec/daemon 4.1
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/explain/explain_ring.h"
#include "cache/store.h"
#include "server/compile/batch/batch.h"
#include "server/compile/cached_build.h"
#include "server/compile/explainer.h"
#include "server/compile/pack/pack_shelf.h"
#include "server/compile/programs/program_pool.h"
#include "server/ops/access.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/reactors/byte_room.h"
#include "server/rpc/service_limits.h"
#include "server/rpc/store_admin.h"

namespace kiln::reload {
class Subscriptions;
}

namespace kiln::rpc {

class RequestCache;

// What the calls work on; all outlive the services.
struct Engine {
  cache::BlobStore& store;
  compile::ProgramPool& pool;
  compile::CachedBuild& builder;
  compile::Batches& batches;
  cache::ExplainRing& explains;
  Clock& clock;
  StoreAdmin whole;
  compile::PackShelf& shelf;
  reload::Subscriptions& watches;
  RequestCache& requests;
};

// At most this many digests are listed as missing: they travel in trailing metadata, which is
// small. The rest shows when the call is repeated.
inline constexpr int kMaxMissingListed = 150;

// Fills `detail` with those sources that neither came along nor are in the store.
Result<void> ListMissing(Engine& engine, const std::vector<compile::Source>& sources,
                         const cache::Call& call, v1::ErrorDetail& detail);

// Errors: kFailedPrecondition, SOURCES_MISSING, with those of ListMissing in `detail`.
Result<void> CheckThere(Engine& engine, const std::vector<compile::Source>& sources,
                        const cache::Call& call, v1::ErrorDetail& detail);

// Errors: kFailedPrecondition, NO_UPSTREAM, if an upstream would be waited for that there is not.
Result<void> CheckDurability(const Engine& engine, v1::Durability durability);

// A variant of the wire.
struct AskedVariant {
  compile::ProgramRequest program;
  std::vector<compile::NamedTarget> targets;  // those that it asks for
  std::vector<resolve::OptionSetting> options;
};
// Errors: kInvalidArgument, and as FromProto(v1::Program).
Result<AskedVariant> FromProto(const v1::Variant& variant);

// Errors: as CachedBuild::Prepare; `detail` lists missing sources.
Result<std::shared_ptr<const compile::PreparedProgram>> PrepareOrListMissing(
    Engine& engine, const compile::ProgramRequest& program, const compile::NamedTarget& target,
    const cache::Call& call, v1::ErrorDetail& detail,
    compile::PoisonPolicy poison = compile::PoisonPolicy::kStands);

// An option at its declared default; nothing if the program has none of this name.
std::optional<resolve::OptionSetting> DefaultOf(const resolve::Program& program,
                                                std::string_view name);

// How one variant is to be built.
struct CompileHow {
  compile::BuildOptions build;
  bool inline_data = false;
  compile::Requester asker;
  std::vector<compile::FreshBlob>* fresh = nullptr;  // gets what was made now
};

// What ends a call that may not write, and would have to. CallContext knows it by its reason, and
// puts in front of what the client sees which scope is missing.
inline constexpr std::string_view kWouldWrite = "WOULD_WRITE";
Error WouldWrite(std::string why);

// All requested targets of one variant; each leaves an explain record, and the outcome has the
// number of the first that was a miss, else of the first. A call that is cache::kAtOnce is answered
// if there is one target and memory has it whole; an error leaves no trace then. A miss that may
// not be compiled has neither kind nor artifacts. Errors: kFailedPrecondition with SOURCES_MISSING,
// `detail` lists them; as CachedBuild::Build.
Result<void> CompileVariant(Engine& engine, const v1::Variant& variant, const CompileHow& how,
                            const cache::Call& call, v1::Outcome& outcome, v1::ErrorDetail& detail);

// Errors: as CompileVariant. Sources that do not parse are diagnostics of the reply.
Result<void> ListOptions(Engine& engine, const v1::ListOptionsRequest& request,
                         const cache::Call& call, v1::ListOptionsReply& reply,
                         v1::ErrorDetail& detail);

// What an upload gave up, and why; for the audit log.
using RejectedContent = std::pair<Digest, std::string_view>;
// Every file and blob of an upload that has not been stored counts for at least so many bytes.
inline constexpr uint64_t kUploadOverhead = 256;
// Uploads of all clients hold what they may.
Error UploadsFull(const ByteRoom& room);

// Chunks of PutSources -> content of the store. What it holds counts against the room, which must
// outlive it. One upload, one thread at a time.
class Upload {
 public:
  Upload(Engine& engine, ByteRoom& room, const ops::Principal& of, const ServiceLimits& /*limits*/)
      : engine_(engine), room_(room), owner_(of.id), held_(room, of.party) {}

  // Errors: kInvalidArgument with DIGEST_MISMATCH or MALFORMED_REQUEST; kResourceExhausted, also
  // with BUFFERS_FULL.
  Result<void> Take(const v1::PutSourcesRequest& message);
  uint64_t waiting() const { return waiting_; }  // bytes not yet stored
  // Stores what is complete. A store that cannot write for now is not an error as long as memory
  // has room for the sources, where they stay. Errors: CACHE_FULL.
  Result<void> Store(const cache::Call& call);
  // Errors: kInvalidArgument if the last source is not complete.
  Result<v1::PutSourcesReply> Finish() const;
  // Since the last time.
  std::vector<RejectedContent> TakeRejected() { return std::exchange(rejected_, {}); }

 private:
  Engine& engine_;
  ByteRoom& room_;
  const std::string owner_;  // whose share what is stored counts for
  ByteRoom::Share held_;
  std::vector<RejectedContent> rejected_;
  bool open_ = false;  // a source is being received
  Digest digest_;
  std::string bytes_;
  std::vector<cache::Item> complete_;
  uint64_t waiting_ = 0;
  uint64_t total_ = 0;
  uint64_t files_ = 0;
  v1::PutSourcesReply reply_;
};

}  // namespace kiln::rpc
