// SPDX-License-Identifier: MIT
// Fetch: results of batches and variants in streams, each blob once (spec/daemon 4).
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "server/test_server.h"

namespace kiln::server {
namespace {

class ServerFetch : public ServerTest {};

// All that one Fetch sends.
struct Fetched {
  std::map<std::string, std::string> blobs;  // by id
  std::vector<std::string> outcomes;
  v1::FetchDone done;
  int messages = 0;
};

Fetched FetchAll(v1::CompileService::Stub& compile, const v1::FetchRequest& request) {
  grpc::ClientContext context;
  const auto stream = compile.Fetch(&context, request);
  Fetched fetched;
  const auto take_blob = [&](const v1::BlobChunk& chunk) {
    std::string& bytes = fetched.blobs[chunk.digest().id()];
    EXPECT_EQ(bytes.size(), chunk.offset());
    bytes += chunk.data();
  };
  const auto take_outcome = [&](const v1::Outcome& outcome) {
    EXPECT_TRUE(outcome.artifacts_size() == 0 || !request.have_root().empty() ||
                fetched.blobs.contains(outcome.artifacts(0).metadata().id()));
    fetched.outcomes.push_back(outcome.SerializeAsString());
  };
  for (v1::FetchReply reply; stream->Read(&reply); ++fetched.messages) {
    std::ranges::for_each(reply.blobs(), take_blob);
    std::ranges::for_each(reply.outcomes(), take_outcome);
    if (reply.has_blob()) {
      take_blob(reply.blob());
    } else if (reply.has_outcome()) {
      take_outcome(reply.outcome());
    } else if (reply.has_done()) {
      fetched.done = reply.done();
    }
  }
  EXPECT_TRUE(stream->Finish().ok());
  return fetched;
}

TEST_F(ServerFetch, FetchOfABatch_SendsEveryBlobOnceAndNothingThatTheClientHas) {
  Start();
  std::map<int, int> seen;
  const std::string id = StartBatch(BatchOf(GoodSource())).batch_id();
  Watch(id, seen);
  v1::FetchRequest request;
  request.set_batch_id(id);
  const Fetched first = FetchAll(*compile, request);
  ASSERT_GT(first.blobs.size(), 2u);
  for (const auto& [digest, bytes] : first.blobs) {
    EXPECT_EQ(Id(DigestOf(std::string_view(bytes)).id), digest);
  }
  request.set_have_root(first.done.root());
  const Fetched again = FetchAll(*compile, request);
  EXPECT_TRUE(again.blobs.empty());
  EXPECT_EQ(again.done.counts().blobs_sent(), 0u);
  EXPECT_GT(again.done.counts().blobs_known(), 0u);
}

TEST_F(ServerFetch, FetchTogether_SendsTheSameInFewMessages) {
  Start();
  std::map<int, int> seen;
  const std::string id = StartBatch(BatchOf(GoodSource())).batch_id();
  Watch(id, seen);
  v1::FetchRequest request;
  request.set_batch_id(id);
  const Fetched alone = FetchAll(*compile, request);
  request.set_together(true);
  const Fetched together = FetchAll(*compile, request);
  EXPECT_EQ(together.blobs, alone.blobs);
  EXPECT_EQ(together.outcomes, alone.outcomes);
  EXPECT_EQ(together.done.SerializeAsString(), alone.done.SerializeAsString());
  EXPECT_GT(alone.messages, 10);
  EXPECT_LE(together.messages, 2);
}

TEST_F(ServerFetch, LongFetch_TellsBetweenItsPagesHowFarItIs) {
  constexpr int kVariants = 600;  // at most 256 messages are a page
  Start();
  v1::FetchRequest request;
  for (int i = 0; i < kVariants; ++i) {
    *request.add_variants()->mutable_inline_program() = ProgramOf(GoodSource(), true);
  }
  request.set_on_miss(v1::FetchRequest::COMPILE);
  grpc::ClientContext context;
  auto stream = compile->Fetch(&context, request);
  uint64_t outcomes = 0, bytes = 0;
  int told = 0;
  v1::FetchReply reply;
  while (stream->Read(&reply)) {
    outcomes += reply.has_outcome() ? 1 : 0;
    bytes += reply.blob().data().size();
    if (reply.has_progress()) {
      ++told;
      EXPECT_EQ(reply.progress().stage(), "fetch");
      EXPECT_EQ(reply.progress().done(), outcomes);
      EXPECT_EQ(reply.progress().total(), kVariants);
      EXPECT_EQ(reply.progress().bytes_done(), bytes);
      EXPECT_GT(bytes, 0u);
    }
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(outcomes, kVariants);
  EXPECT_EQ(told, 2);
  EXPECT_TRUE(reply.has_done());
}

}  // namespace
}  // namespace kiln::server
