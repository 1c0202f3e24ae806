// SPDX-License-Identifier: MIT
// BatchService: variants of spaces in the background, their order, budget and end (spec/daemon 4).
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "server/test_server.h"

namespace kiln::server {
namespace {

class ServerBatch : public ServerTest {};

TEST_F(ServerBatch, Batch_HasAnOwnerAndAPriorityFrom0To9) {
  Start();
  v1::StartBatchRequest request = BatchOf(GoodSource());
  for (const auto& [priority, code] :
       {std::pair{9u, grpc::StatusCode::OK}, std::pair{10u, grpc::StatusCode::INVALID_ARGUMENT}}) {
    request.set_priority(priority);
    grpc::ClientContext context;
    v1::StartBatchReply reply;
    EXPECT_EQ(batch->StartBatch(&context, request, &reply).error_code(), code) << priority;
  }
  request.set_priority(0);  // it is the same batch
  v1::GetBatchRequest get;
  get.set_batch_id(StartBatch(request).batch_id());
  grpc::ClientContext context;
  v1::Batch started;
  ASSERT_TRUE(batch->GetBatch(&context, get, &started).ok());
  EXPECT_EQ(started.owner(), "local");
}

TEST_F(ServerBatch, Batch_BuildsAllVariantsAndTheSecondRunOnlyHits) {
  Start();
  std::map<int, int> seen;
  const v1::StartBatchReply first = StartBatch(BatchOf(GoodSource()));
  const v1::BatchEvent last = Watch(first.batch_id(), seen);
  ASSERT_EQ(last.event_case(), v1::BatchEvent::kFinal);
  EXPECT_EQ(last.final().state(), v1::Batch::DONE);
  EXPECT_EQ(last.final().exit_hint(), 0u);
  EXPECT_EQ(last.final().counts().variants_total(), "12");
  EXPECT_EQ(last.final().counts().variants_served(), "12");
  EXPECT_GT(last.final().counts().compiled(), 0u);
  EXPECT_GE(seen[v1::BatchEvent::kProgress], 1);
  EXPECT_EQ(seen[v1::BatchEvent::kProgramDone], 1);
  const v1::StartBatchReply second = StartBatch(BatchOf(GoodSource()));
  EXPECT_EQ(second.batch_id(), first.batch_id());
  const v1::BatchEvent again = Watch(second.batch_id(), seen);
  EXPECT_EQ(again.final().counts().compiled(), 0u);
  EXPECT_EQ(again.final().counts().results_done(), last.final().counts().results_done());
}

TEST_F(ServerBatch, BatchOfWrongSource_HintsAtExitCode1) {
  Start();
  std::map<int, int> seen;
  const v1::BatchEvent last = Watch(StartBatch(BatchOf(WrongSource())).batch_id(), seen);
  EXPECT_EQ(last.final().exit_hint(), 1u);
  EXPECT_GE(seen[v1::BatchEvent::kItem], 1);
}

TEST_F(ServerBatch, UnknownBatch_IsNotFound) {
  Start();
  v1::BatchEvent event;
  v1::WatchBatchRequest watch;
  watch.set_batch_id(std::string(16, 'x'));
  grpc::ClientContext watch_context;
  auto events = batch->WatchBatch(&watch_context, watch);
  EXPECT_FALSE(events->Read(&event));
  EXPECT_EQ(events->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DetailOf(watch_context).reason(), "UNKNOWN_BATCH");
  v1::FetchReply reply;
  v1::FetchRequest fetch;
  fetch.set_batch_id(watch.batch_id());
  grpc::ClientContext fetch_context;
  auto results = compile->Fetch(&fetch_context, fetch);
  EXPECT_FALSE(results->Read(&reply));
  EXPECT_EQ(results->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ServerBatch, ProgramsOfHigherPriority_AreBuiltFirst) {
  Daemon::Options options = OptionsIn(folder.path());
  options.config.workers = 1;  // so that they end in the order in which they begin
  StartWith(options);
  v1::StartBatchRequest request;
  for (const auto& [name, priority] : {std::pair("usual", 0), std::pair("first", 9),
                                       std::pair("later", 0), std::pair("second", 3)}) {
    v1::ProgramSpace& space = *request.add_spaces();
    *space.mutable_program() = ProgramOf(GoodSource(), true);
    space.mutable_program()->set_name(name);
    space.set_priority(static_cast<uint32_t>(priority));
    space.add_tags("a label");
  }
  const std::string id = StartBatch(request).batch_id();
  grpc::ClientContext context;
  v1::WatchBatchRequest watch;
  watch.set_batch_id(id);
  const auto stream = batch->WatchBatch(&context, watch);
  std::vector<std::string> done;
  for (v1::BatchEvent event; stream->Read(&event);) {
    if (event.event_case() == v1::BatchEvent::kProgramDone) {
      done.push_back(event.program_done().program());
    }
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(done, (std::vector<std::string>{"first", "second", "usual", "later"}));
  request.mutable_spaces(0)->set_priority(10);
  grpc::ClientContext refused;
  v1::StartBatchReply reply;
  EXPECT_EQ(batch->StartBatch(&refused, request, &reply).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf(refused).field(), "spaces.priority");
}

TEST_F(ServerBatch, Explore_BuildsWhatTheBudgetRefuses) {
  Start();
  v1::StartBatchRequest request = BatchOf(GoodSource());  // 12 variants
  std::map<int, int> seen;
  const v1::BatchEvent whole = Watch(StartBatch(request).batch_id(), seen);
  const uint64_t results = whole.final().counts().results_done();
  ASSERT_GT(results, 1u);
  request.mutable_budget()->set_results(1);
  {
    grpc::ClientContext context;
    v1::StartBatchReply reply;
    EXPECT_EQ(batch->StartBatch(&context, request, &reply).error_code(),
              grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(DetailOf(context).reason(), "LIMIT_VARIANTS");
  }
  request.set_explore(results);
  const std::string id = StartBatch(request).batch_id();
  const v1::BatchEvent explored = Watch(id, seen);
  EXPECT_EQ(explored.final().state(), v1::Batch::DONE);
  EXPECT_EQ(explored.final().counts().results_done(), results);
  EXPECT_EQ(explored.final().counts().variants_served(), "12");
  request.set_explore(results - 1);
  const v1::BatchEvent beyond = Watch(StartBatch(request).batch_id(), seen);
  EXPECT_EQ(beyond.final().state(), v1::Batch::FAILED);
  EXPECT_EQ(beyond.final().exit_hint(), 5u);
  v1::BuildPackRequest pack_request;  // of what was explored
  pack_request.set_batch_id(id);
  grpc::ClientContext context;
  const auto stream = pack->BuildPack(&context, pack_request);
  v1::BuildPackReply built;
  while (stream->Read(&built)) {
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(built.done().counts().artifacts(), results);
}

}  // namespace
}  // namespace kiln::server
