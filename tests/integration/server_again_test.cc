// SPDX-License-Identifier: MIT
// The same request again and again: what is answered by its bytes is what reading it would give.
#include <map>
#include <set>
#include <string>

#include <grpcpp/impl/codegen/client_unary_call.h>

#include "server/test_server.h"

namespace kiln::server {
namespace {

class ServerAgain : public ServerTest {
 protected:
  void SetUp() override {
    Start();
    (void)Compile(RequestOf(GoodSource()));  // brings the source
  }

  v1::ExplainRecord ExplainSeq(uint64_t seq) {
    v1::ExplainRequest request;
    request.set_seq(seq);
    grpc::ClientContext context;
    v1::ExplainReply reply;
    EXPECT_TRUE(compile->Explain(&context, request, &reply).ok());
    return reply.records_size() == 1 ? reply.records(0) : v1::ExplainRecord();
  }

  uint64_t SavedUs() {
    grpc::ClientContext context;
    v1::CacheStats stats;
    EXPECT_TRUE(admin->GetCacheStats(&context, {}, &stats).ok());
    return stats.cpu_saved_us();
  }
};

TEST_F(ServerAgain, EveryAnswer_IsTheFirstButForItsNumber) {
  for (const bool inline_data : {true, false}) {
    for (const bool cheap : {true, false}) {
      v1::CompileRequest request = RequestOf(GoodSource(), false);
      request.set_inline_data(inline_data);
      request.set_project("again");
      v1::OptionValue& option = *request.mutable_variant()->add_options();
      option.set_name("cheap");
      option.set_flag(cheap);
      (void)Compile(request);
      v1::Outcome first = Compile(request);
      EXPECT_EQ(first.artifacts(0).origin(), v1::Artifact::MEMORY);
      EXPECT_EQ(first.artifacts(0).data().empty(), !inline_data);
      uint64_t last = first.explain_seq();
      first.clear_explain_seq();
      std::set<std::string> traces;
      for (int i = 0; i < 40; ++i) {
        v1::Outcome again = Compile(request);
        EXPECT_EQ(again.explain_seq(), last + 1);
        last = again.explain_seq();
        again.clear_explain_seq();
        ASSERT_EQ(again.SerializeAsString(), first.SerializeAsString()) << i;
        if (i % 7 == 0) {  // records that were made already, and one that was not
          const v1::ExplainRecord record = ExplainSeq(last);
          EXPECT_EQ(record.seq(), last);
          EXPECT_TRUE(record.hit());
          EXPECT_EQ(record.level(), "memory");
          EXPECT_EQ(record.cause(), "same_variant");
          EXPECT_EQ(record.project(), "again");
          EXPECT_EQ(record.signature(), first.artifacts(0).signature());
          EXPECT_EQ(record.options_size(), 3);
          EXPECT_TRUE(traces.insert(record.trace_id()).second);
        }
      }
    }
  }
}

TEST_F(ServerAgain, FirstAnswers_WereNotFromMemory) {
  // Requests that differ in a byte are different requests.
  v1::CompileRequest request = RequestOf(GoodSource(), false);
  for (int i = 0; i < 3; ++i) {
    (void)Compile(request);
  }
  request.mutable_variant()->mutable_inline_program()->mutable_targets(0)->set_env("vulkan1.3");
  EXPECT_EQ(Compile(request).artifacts(0).origin(), v1::Artifact::COMPILED);
}

TEST_F(ServerAgain, ExplainedRequest_IsExplainedEachTime) {
  v1::CompileRequest request = RequestOf(GoodSource(), false);
  request.set_want_explain(true);
  for (int i = 0; i < 4; ++i) {
    grpc::ClientContext context;
    v1::CompileReply reply;
    ASSERT_TRUE(compile->Compile(&context, request, &reply).ok());
    EXPECT_EQ(reply.explain().seq(), reply.outcome().explain_seq());
    EXPECT_TRUE(reply.explain().hit());
  }
}

TEST_F(ServerAgain, WrongSourceAndWrongOption_AreAnsweredAnew) {
  v1::CompileRequest wrong = RequestOf(WrongSource());
  v1::CompileRequest option = RequestOf(GoodSource(), false);
  option.mutable_variant()->add_options()->set_name("nothing");
  option.mutable_variant()->mutable_options(0)->set_flag(true);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(Compile(wrong).kind(), v1::Outcome::SOURCE_ERROR);
    wrong.mutable_variant()->mutable_inline_program()->mutable_sources(0)->clear_inline_();
    EXPECT_EQ(Compile(option).kind(), v1::Outcome::SOURCE_ERROR);
  }
}

TEST_F(ServerAgain, Hits_SaveTheirTimeEachTime) {
  const v1::CompileRequest request = RequestOf(GoodSource(), false);
  const uint64_t each = Compile(request).artifacts(0).cpu_us();
  const uint64_t before = SavedUs();
  for (int i = 0; i < 5; ++i) {
    (void)Compile(request);
  }
  EXPECT_GT(each, 0u);
  EXPECT_EQ(SavedUs(), before + 5 * each);
}

TEST_F(ServerAgain, DrainingDaemon_RefusesAllTheSame) {
  const v1::CompileRequest request = RequestOf(GoodSource(), false);
  for (int i = 0; i < 3; ++i) {
    (void)Compile(request);
  }
  grpc::ClientContext drain_context;
  v1::DrainReply drained;
  ASSERT_TRUE(admin->Drain(&drain_context, {}, &drained).ok());
  grpc::ClientContext context;
  v1::CompileReply reply;
  EXPECT_EQ(compile->Compile(&context, request, &reply).error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST_F(ServerAgain, BytesThatAreNoRequest_AreMalformed) {
  for (const std::string& bytes : {std::string("\xff\xff\xff"), std::string(20'000, '\x0a')}) {
    grpc::ClientContext context;
    const grpc::Slice slice(bytes);
    grpc::ByteBuffer reply;
    const grpc::Status status =
        grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
            channel.get(),
            grpc::internal::RpcMethod("/kiln.v1.CompileService/Compile",
                                      grpc::internal::RpcMethod::NORMAL_RPC, channel),
            &context, grpc::ByteBuffer(&slice, 1), &reply);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(DetailOf(context).reason(), "MALFORMED_REQUEST");
  }
  EXPECT_EQ(Compile(RequestOf(GoodSource(), false)).kind(), v1::Outcome::OK);
}

// What a batch of which nothing changed costs is a look at the one before it, unless the store was
// asked to drop something since: then everything is looked up there.
TEST_F(ServerAgain, BatchOfWhichNothingChanged_HitsUntilTheStoreLosesSomething) {
  const auto built = [&] {
    grpc::ClientContext context;
    v1::WatchBatchRequest request;
    request.set_batch_id(StartBatch(BatchOf(GoodSource())).batch_id());
    const auto stream = batch->WatchBatch(&context, request);
    v1::BatchEvent event;
    v1::BatchProgress last;
    while (stream->Read(&event)) {
      last = event.has_progress() ? event.progress() : last;
    }
    EXPECT_TRUE(stream->Finish().ok());
    EXPECT_EQ(event.final().state(), v1::Batch::DONE);
    return last;
  };
  const uint64_t results = built().results_done();
  EXPECT_NE(results, 0u);
  for (int i = 0; i < 3; ++i) {
    const v1::BatchProgress again = built();
    EXPECT_EQ(again.hit_memory(), results);
    EXPECT_EQ(again.results_done(), results);
    EXPECT_EQ(again.variants_served(), "12");
  }
  grpc::ClientContext context;
  const auto stream = admin->GcCache(&context, {});
  v1::CacheMaintenance event;
  while (stream->Read(&event)) {
  }
  ASSERT_TRUE(stream->Finish().ok());
  const v1::BatchProgress after = built();
  EXPECT_EQ(after.hit_local() + after.shared(), results);
  EXPECT_EQ(built().hit_memory(), results);
}

}  // namespace
}  // namespace kiln::server
