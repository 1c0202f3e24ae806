// SPDX-License-Identifier: MIT
// What CompileService does, without the transport: request messages -> reply messages. Runs inside
// jobs. See spec/daemon 4.1
#pragma once

#include <memory>
#include <string_view>
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

// Errors: kFailedPrecondition, NO_UPSTREAM, if an upstream would be waited for and none
// is written to.
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

}  // namespace kiln::rpc
