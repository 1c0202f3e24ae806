// SPDX-License-Identifier: MIT
// Calls about batches and packs. Streams are read to their end here, and a stream that ends without
// its last message is an error, whatever its status says.
#include "client/batch_calls.h"

#include <optional>

#include <grpcpp/grpcpp.h>

#include "client/compile_calls.h"
#include "client/connection.h"

namespace kiln::client {
namespace {

// Above this the spaces of a batch travel as an upload: a request has at most 4 MiB.
constexpr size_t kMaxInlineSpaces = size_t{3} << 20;

// Uploads the spaces and leaves their digest in their place. Requires that the connection is open;
// the daemon keeps the upload like any other source.
Result<void> MoveSpaces(Connection& connection, v1::StartBatchRequest& request) {
  v1::StartBatchRequest spaces;
  spaces.mutable_spaces()->Swap(request.mutable_spaces());
  Source upload{.path = ":spaces", .digest = {}, .text = spaces.SerializeAsString()};
  // The serialised spaces are content like a source: uploaded in chunks, and not at all if the
  // daemon has them from the last run.
  upload.digest = DigestOf(AsBytes(upload.text));
  ToProto(upload.digest, request.mutable_spaces_digest());
  return UploadSources(connection, {&upload, 1});
}

// A call about one batch that answers with its state.
template <class Request>
using Call = grpc::Status (v1::BatchService::Stub::*)(grpc::ClientContext*, const Request&,
                                                      v1::Batch*);

// Get, cancel, pause and resume differ in the method alone.
template <class Request>
Result<BatchInfo> OfOne(v1::BatchService::Stub& stub, Call<Request> call, const std::string& id) {
  Context context(kAnswerWithin);
  Request request;
  request.set_batch_id(IdOf(id));
  v1::Batch reply;
  const grpc::Status status = (stub.*call)(&context.grpc, request, &reply);
  if (!status.ok()) {
    return context.Failed(status);
  }
  return FromProto(reply);
}

constexpr uint64_t kMostItems = 1'000'000;  // results of a batch (spec/daemon 10)

// Nothing of what a user asks about: programs that are done. The same for an event of a kind that
// only a newer daemon has; whoever watches goes on with the next one.
std::optional<BatchEvent> EventOf(const v1::BatchEvent& message) {
  if (message.has_progress()) {
    return FromProto(message.progress());
  }
  if (message.has_item()) {
    return FromProto(message.item());
  }
  if (message.has_final()) {
    return BatchFinal{.state = v1::Batch::State_Name(message.final().state()),
                      .exit_hint = message.final().exit_hint(),
                      .problem = CutText(message.final().problem())};
  }
  return message.message().empty() ? std::nullopt
                                   : std::optional<BatchEvent>(CutText(message.message()));
}

}  // namespace

// The sources of the programs are there already; the request names them by their digests. The id is
// a hash in hexadecimal of what is asked for, so a second start attaches to the batch that runs
// (spec/daemon 4.2).
Result<std::string> BatchCalls::StartBatch(const std::string& project,
                                           std::span<const ProgramSpace> spaces,
                                           const BatchOptions& how) {
  v1::StartBatchRequest request;
  request.set_project(project);
  for (const ProgramSpace& space : spaces) {
    ToProto(space, request.add_spaces());
  }
  for (const std::string& target : how.targets) {
    request.add_targets(target);
  }
  if (!how.filter.empty()) {
    ToFilter(how.filter, *request.mutable_filter());
  }
  ToProto(how.budget, request.mutable_budget());
  request.set_on_error(static_cast<v1::StartBatchRequest::OnError>(how.on_error));
  request.set_priority(how.priority);
  request.set_detach(how.detach);
  request.set_retry_failed(how.retry_failed);
  request.set_explore(how.explore);
  request.set_pin(how.pin);
  request.set_durability(how.quorum ? v1::DURABILITY_QUORUM : v1::DURABILITY_LOCAL);
  // Measured on the message itself, because a hundred axes or a hundred thousand explicit variants
  // can make it large.
  if (request.ByteSizeLong() > kMaxInlineSpaces) {
    KILN_TRY_VOID(MoveSpaces(connection_, request));
  }
  // Starting a batch counts its spaces, which may take longer than an answer.
  Context context(kPlanWithin);
  v1::StartBatchReply reply;
  const grpc::Status status = connection_.batch->StartBatch(&context.grpc, request, &reply);
  if (!status.ok()) {
    return context.Failed(status);
  }
  v1::Digest id;
  id.set_id(reply.batch_id());
  KILN_TRY(const Digest digest, FromProto(id));
  return digest.id.hex();
}

Result<void> BatchCalls::WatchBatch(const std::string& id,
                                    const std::function<Next(const BatchEvent&)>& on_event) {
  return WatchBatch(id, 0, [&](const BatchEvent& event, uint64_t) { return on_event(event); });
}

// Blocks until the batch is over, the caller stops it or the stream breaks. `from_seq` 0 is the
// beginning.
Result<void> BatchCalls::WatchBatch(
    const std::string& id, uint64_t from_seq,
    const std::function<Next(const BatchEvent&, uint64_t)>& on_event) {
  Context context;
  v1::WatchBatchRequest request;
  request.set_batch_id(IdOf(id));
  request.set_from_seq(from_seq);
  const auto reader = connection_.batch->WatchBatch(&context.grpc, request);
  v1::BatchEvent message;
  bool ended = false;
  uint64_t items = 0;
  while (reader->Read(&message)) {
    // The caller keeps what it is told of, so a daemon that never stops telling must be stopped
    // here.
    items += message.has_item() ? 1 : 0;
    if (items > kMostItems) {
      context.grpc.TryCancel();
      (void)reader->Finish();  // or the daemon hears of it late
      return Error{.code = ErrorCode::kDataLoss,
                   .context = "the daemon tells of more results than a batch has: " +
                              std::to_string(kMostItems),
                   .reason = "MORE_THAN_ASKED_FOR"};
    }
    const std::optional<BatchEvent> event = EventOf(message);
    // A stream that ends well without the final event was cut, for example by a daemon that was
    // killed: gRPC alone would call that success.
    ended |= message.has_final();
    // The number goes along, so that the caller can watch again from where it stopped.
    if (event.has_value() && on_event(*event, message.seq()) == Next::kStop) {
      context.grpc.TryCancel();
      return {};
    }
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) {
    return context.Failed(status);
  }
  // gRPC ends a stream well when a daemon closes it in order, also in the middle of a batch. Only
  // the final event means that the batch is over, so without it the caller connects again.
  return ended ? Result<void>()
               : Result<void>(Error{.code = ErrorCode::kUnavailable,
                                    .context = "the daemon went before the batch was over",
                                    .reason = "STREAM_CUT"});
}

Result<BatchInfo> BatchCalls::GetBatch(const std::string& id) {
  return OfOne<v1::GetBatchRequest>(*connection_.batch, &v1::BatchService::Stub::GetBatch, id);
}

Result<BatchInfo> BatchCalls::CancelBatch(const std::string& id) {
  return OfOne<v1::CancelBatchRequest>(*connection_.batch, &v1::BatchService::Stub::CancelBatch,
                                       id);
}

Result<BatchInfo> BatchCalls::PauseBatch(const std::string& id) {
  return OfOne<v1::PauseBatchRequest>(*connection_.batch, &v1::BatchService::Stub::PauseBatch, id);
}

Result<BatchInfo> BatchCalls::ResumeBatch(const std::string& id) {
  return OfOne<v1::ResumeBatchRequest>(*connection_.batch, &v1::BatchService::Stub::ResumeBatch,
                                       id);
}

Result<std::vector<BatchInfo>> BatchCalls::ListBatches(const std::string& project) {
  std::vector<BatchInfo> batches;
  v1::ListBatchesRequest request;
  request.set_project(project);
  KILN_TRY_VOID(EachPage(*connection_.batch, &v1::BatchService::Stub::ListBatches, request,
                         [&](const v1::ListBatchesReply& reply) {
                           for (const v1::Batch& batch : reply.batches()) {
                             batches.push_back(FromProto(batch));
                           }
                         }));
  return batches;
}

Result<std::vector<std::string>> BatchCalls::BatchIds() {
  KILN_TRY(const std::vector<BatchInfo> batches, ListBatches({}));
  std::vector<std::string> ids;
  ids.reserve(batches.size());
  for (const BatchInfo& batch : batches) {
    ids.push_back(batch.id);
  }
  return ids;
}

// All items of the kinds, in the order of the daemon; no kinds means all kinds.
Result<std::vector<BatchItem>> BatchCalls::BatchItems(const std::string& id,
                                                      const std::vector<std::string>& kinds) {
  std::vector<BatchItem> items;
  v1::ListBatchItemsRequest request;
  request.set_batch_id(IdOf(id));
  for (const std::string& kind : kinds) {
    request.add_kinds(kind);
  }
  // A page of a thousand items stays below the limit of a message even if each has diagnostics.
  request.set_page_size(1000);
  KILN_TRY_VOID(EachPage(*connection_.batch, &v1::BatchService::Stub::ListBatchItems, request,
                         [&](const v1::ListBatchItemsReply& reply) {
                           for (const v1::BatchItem& item : reply.items()) {
                             items.push_back(FromProto(item));
                           }
                         }));
  return items;
}

// Blocks until the pack is built. Progress comes on the calling thread.
Result<BuiltPack> BatchCalls::BuildPack(
    const PackRequest& request, const std::function<void(const PackProgress&)>& on_progress) {
  Context context;
  v1::BuildPackRequest message;
  message.set_batch_id(IdOf(request.batch));
  message.mutable_targets()->Assign(request.targets.begin(), request.targets.end());
  message.set_mode(request.small ? v1::BuildPackRequest::SMALL : v1::BuildPackRequest::FAST);
  message.set_base_pack(IdOf(request.base));
  message.set_pin(request.pin);
  if (request.manifest.has_value()) {
    ToProto(*request.manifest, message.mutable_manifest());
  }
  for (const PackRequest::Warm& warm : request.warm) {
    v1::WarmEntry& entry = *message.add_warm_list();
    entry.set_program(warm.program);
    entry.set_priority(warm.priority);
    entry.set_creation_us(warm.creation_us);
    entry.set_first_use_us(warm.first_use_us);
    for (const Option& option : warm.options) {
      ToProto(option, entry.add_options());
    }
  }
  // Set by the last message only. Without it the stream was cut, whatever its status says.
  std::optional<BuiltPack> built;
  const auto reader = connection_.pack->BuildPack(&context.grpc, message);
  v1::BuildPackReply reply;
  while (reader->Read(&reply)) {
    if (reply.has_progress()) {
      on_progress({.stage = reply.progress().stage(),
                   .done = reply.progress().done(),
                   .total = reply.progress().total(),
                   .bytes_done = reply.progress().bytes_done(),
                   .bytes_total = reply.progress().bytes_total()});
    } else if (reply.has_done()) {
      const v1::BuildPackReply::Done& done = reply.done();
      built = BuiltPack{.id = HexOf(done.pack_id()),
                        .size = done.size(),
                        .programs = done.counts().programs(),
                        .artifacts = done.counts().artifacts(),
                        .blobs = done.counts().blobs(),
                        .pipelines = done.counts().pipelines(),
                        .failed = done.failed()};
    }
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) {
    return context.Failed(status);
  }
  if (!built.has_value()) {
    return Error{.code = ErrorCode::kCorrupt, .context = "the stream was cut", .reason = {}};
  }
  return *built;
}

// Blocks until the last byte. An error of `on_bytes` stops the daemon and is what is returned.
Result<void> BatchCalls::ReadPack(const std::string& id,
                                  const std::function<Result<void>(ByteView bytes)>& on_bytes) {
  Context context;
  v1::ReadPackRequest request;
  request.set_pack_id(IdOf(id));
  const auto reader = connection_.pack->ReadPack(&context.grpc, request);
  v1::ReadPackReply reply;
  uint64_t offset = 0;
  while (reader->Read(&reply)) {
    // Offsets prove that no part is missing or comes twice; the digest of the pack is checked by
    // whoever opens it.
    Result<void> taken = reply.offset() == offset ? on_bytes(AsBytes(reply.data()))
                                                  : Error{.code = ErrorCode::kCorrupt,
                                                          .context = "parts of the pack do not fit",
                                                          .reason = {}};
    if (!taken.ok()) {
      context.grpc.TryCancel();
      return taken;
    }
    offset += reply.data().size();
  }
  const grpc::Status status = reader->Finish();
  return status.ok() ? Result<void>() : Result<void>(context.Failed(status));
}

}  // namespace kiln::client
