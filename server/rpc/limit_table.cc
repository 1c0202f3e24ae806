// SPDX-License-Identifier: MIT
// One list of all limits that a request can meet (spec/daemon 10), for GetServerInfo. Numbers come
// from where they are enforced, so the list cannot say another one.
#include "server/rpc/limit_table.h"

#include <chrono>
#include <initializer_list>
#include <utility>

#include "cache/compression/codec.h"
#include "cache/decorators/upload_store.h"
#include "cache/leases/bounded_pins.h"
#include "cache/pack/format.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/driver/frontends.h"
#include "compiler/source/file_list.h"
#include "compiler/source/probed_bytes.h"
#include "server/compile/batch/batch_points.h"
#include "server/compile/batch/batch_room.h"
#include "server/compile/pack/pack_shelf.h"
#include "server/jobs/job.h"
#include "server/project/counter.h"
#include "server/rpc/calls/space_calls.h"
#include "server/rpc/messages/message_limits.h"

namespace kiln::rpc {
namespace {

uint64_t Milliseconds(Duration duration) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

// The letters are the classes of spec/daemon 10: D is part of what a result means, S of the
// service, T ends a job.
void AddOfRequests(const ServiceLimits& limits, std::vector<LimitLine>& out) {
  const project::Counter::Limits counting;
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, uint64_t>>{
           {"request message", limits.request_message},
           {"stream message", kMaxStreamMessage},
           {"inline source", kMaxInlineSource},
           {"source file", kMaxSourceFile},
           {"source files of a manifest", kMaxSourceFiles},
           {"source set of a manifest", kMaxSourceSet},
           {"stored request", kMaxStoredRequest},
           {"sources per program", kMaxSources},
           {"files to include in a message", kMaxIncludedFiles},
           {"files to include", FileList::kMost},
           {"list of files to include", FileList::kMostText},
           {"bytes of files to include", FileList::kMostBytes},
           {"include roots", kMaxIncludeRoots},
           {"macros of a program", kMaxDefines},
           {"macro", kMaxDefine},
           {"macros with values", hlsl::kMostMacroAxes},
           {"values of a macro", hlsl::kMostMacroValues},
           {"paths of includes", kMaxIncludedPaths},
           {"programs per manifest", kMaxPrograms},
           {"programs of a list", kMaxListedPrograms},
           {"targets per program", kMaxTargets},
           {"axes per program", kMaxAxes},
           {"axis values", kMaxAxisValues},
           {"expressions per program", kMaxExpressions},
           {"expression", kMaxExpression},
           {"tags per program", kMaxTags},
           {"tag", kMaxTag},
           {"recipes", kMaxRecipes},
           {"unfinished batches", compile::kMostUnfinished},
           {"remembered batches", compile::kMostKept},
           {"packs of one", compile::PackShelf::kMaxPacks},
           {"distinct results per program", compile::kMaxResults},
           {"results of a batch", compile::kMaxBatchResults},
           {"points of a batch", compile::kMaxPointBytes},
           {"points that are walked", compile::kMaxWalked},
           {"counting entries", counting.entries},
           {"counting memory", counting.bytes},
           {"counting time", Milliseconds(counting.time)},
           {"counting time of a request", Milliseconds(kRequestCountingTime)},
           {"reply", kMaxReply},
           {"labels of readers", kMaxReaderLabels},
           {"digests", kMaxDigests},
           {"decompression ratio", cache::kMaxRatio},
           {"pack entries", kMaxPackEntries},
           {"pack size", pack::kMaxFileBytes},
           {"pin name", kMaxPinName},
           {"pin note", cache::kMaxPinNote},
           {"pins", cache::kMaxPins},
           {"stream buffer", kMaxStreamBuffer},
           {"rejected blobs", limits.rejected_blobs},
       }) {
    out.push_back({.name = name, .value = value, .kind = 'S'});
  }
}

// How many connections there may be is asked of the part that counts them: there may be fewer
// descriptors than the configuration wants.
void AddOfTransport(const Host& host, std::vector<LimitLine>& out) {
  const ServiceLimits& limits = host.limits;
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, uint64_t>>{
           {"connections", host.connections.most()},
           {"bytes before a token", host.connections.options().newcomer_bytes},
           {"bytes between calls", host.connections.options().client_bytes},
           {"calls for nothing", static_cast<uint64_t>(FruitlessCalls::kAtOnce)},
           {"streams", limits.streams},
           {"header list", limits.header_list},
           {"handshake", Milliseconds(limits.handshake)},
           {"first call", Milliseconds(limits.first_call)},
           {"idle connection", Milliseconds(limits.idle)},
           {"uploads held", host.uploads.most()},
           {"uploads that the cache did not take", cache::UploadStore::kMostHeld},
           {"held for slow readers", host.readers.most()},
           {"upload time", Milliseconds(limits.upload_time)},
           {"idle upload", Milliseconds(limits.upload_idle)},
           {"watch sessions", limits.watch_sessions},
           {"watch subscribers", limits.watch_subscribers},
       }) {
    out.push_back({.name = name, .value = value, .kind = 'S'});
  }
}

}  // namespace

// Names are those of error details as well, so a client finds the bound that it hit. None is ever
// renamed.
std::vector<LimitLine> LimitTable(const Host& host) {
  std::vector<LimitLine> out;
  AddOfRequests(host.limits, out);
  AddOfTransport(host, out);
  // The table of these limits drives parsers, keys and configuration; here it only gets letters.
  for (const LanguageLimitRow& row : LanguageLimitTable()) {
    out.push_back(
        {.name = std::string(row.name), .value = host.language_limits.*row.value, .kind = 'D'});
  }
  out.push_back({.name = "diagnostics", .value = kMaxDiagnostics, .kind = 'D'});
  out.push_back({.name = "bytes of diagnostics", .value = kMaxDiagnosticsBytes, .kind = 'D'});
  out.push_back({.name = "name in a message", .value = kMaxArgument, .kind = 'D'});
  out.push_back({.name = "bytes of paths of includes", .value = kMostProbedBytes, .kind = 'D'});
  out.push_back({.name = "memory of a call", .value = jobs::kCallBytes, .kind = 'T'});
  const JobLimits& jobs = host.job_limits;
  out.push_back(
      {.name = "interactive job", .value = Milliseconds(jobs::kInteractiveDeadline), .kind = 'T'});
  out.push_back({.name = "batch job", .value = Milliseconds(jobs::kItemDeadline), .kind = 'T'});
  out.push_back({.name = "cpu of a job", .value = Milliseconds(jobs::kJobCpu), .kind = 'T'});
  out.push_back({.name = "worker cpu", .value = Milliseconds(jobs.worker_cpu), .kind = 'T'});
  out.push_back({.name = "worker memory", .value = jobs.worker_memory, .kind = 'T'});
  out.push_back({.name = "worker wall time", .value = Milliseconds(jobs.worker_wall), .kind = 'T'});
  out.push_back({.name = "worker attempts", .value = jobs.worker_attempts, .kind = 'T'});
  return out;
}

}  // namespace kiln::rpc
