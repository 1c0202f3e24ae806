// SPDX-License-Identifier: MIT
// Eviction cannot break what runs: batches, fetches and packs over a store that is smaller than
// what they need, while collection never ends. See spec/cache 8.4, 8.5, 12
#include <atomic>
#include <set>
#include <thread>

#include "server/test_server.h"
#include "tests/integration/full_run.h"

namespace kiln::server {
namespace {

constexpr int kBatches = 8;
constexpr int kPacks = 4;

class ServerStorm : public ServerTest {
 protected:
  // Another program for every number: its records are nobody else's.
  static std::string Text(int number) {
    return GoodSource() + "\nf1 unused_" + std::to_string(number) + " (in f1 x) { return x; }\n";
  }

  // What a batch made arrives whole: every blob that an outcome names.
  void FetchAll(const std::string& id) {
    grpc::ClientContext context;
    v1::FetchRequest request;
    request.set_batch_id(id);
    const auto reader = compile->Fetch(&context, request);
    std::set<std::string> blobs;
    uint64_t outcomes = 0;
    v1::FetchReply reply;
    while (reader->Read(&reply)) {
      if (reply.has_blob()) {
        blobs.insert(reply.blob().digest().id());
      } else if (reply.has_outcome()) {
        ++outcomes;
        EXPECT_EQ(reply.outcome().kind(), v1::Outcome::OK);
        for (const v1::Artifact& artifact : reply.outcome().artifacts()) {
          EXPECT_TRUE(blobs.contains(artifact.metadata().id()));
          for (const v1::StageCode& code : artifact.code()) {
            EXPECT_TRUE(blobs.contains(code.digest().id()));
          }
        }
      }
    }
    const grpc::Status status = reader->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_GT(outcomes, 1u);
  }

  void BuildPack(const std::string& id) {
    grpc::ClientContext context;
    v1::BuildPackRequest request;
    request.set_batch_id(id);
    const auto reader = pack->BuildPack(&context, request);
    bool done = false;
    v1::BuildPackReply reply;
    while (reader->Read(&reply)) {
      done = done || reply.has_done();
      EXPECT_EQ(reply.done().failed(), 0u);
    }
    const grpc::Status status = reader->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_TRUE(done);
  }
};

TEST_F(ServerStorm, BatchesAndPacksBelowTheirWorkingSet_LoseNothing) {
  Daemon::Options options = OptionsIn(folder.path());
  options.config.cache_max_bytes = uint64_t{768}
                                   << 10;  // tables and rows of batches take most of it
  options.config.cache_memory_bytes = 4 << 10;
  StartWith(options);
  std::atomic<bool> over{false};
  std::thread storm([&] {
    while (!over) {
      grpc::ClientContext context;
      v1::GcCacheRequest request;
      request.set_to_bytes(1);
      const auto reader = admin->GcCache(&context, request);
      v1::CacheMaintenance message;
      while (reader->Read(&message)) {
      }
      EXPECT_TRUE(reader->Finish().ok());
    }
  });
  std::vector<std::thread> workers;
  workers.reserve(kBatches);
  for (int worker = 0; worker < kBatches; ++worker) {
    workers.emplace_back([this, worker] {
      for (int round = 0; round < tests::Rounds(2, 100); ++round) {
        v1::StartBatchRequest request = BatchOf(Text(worker * 1000 + round));
        request.set_project(std::to_string(worker));
        std::map<int, int> seen;
        const std::string id = StartBatch(request).batch_id();
        const v1::BatchEvent last = Watch(id, seen);
        EXPECT_EQ(last.final().state(), v1::Batch::DONE);
        EXPECT_EQ(last.final().counts().failed(), 0u);
        FetchAll(id);
        if (worker < kPacks) {
          BuildPack(id);
        }
      }
    });
  }
  for (std::thread& worker : workers) {
    worker.join();
  }
  over = true;
  storm.join();
}

}  // namespace
}  // namespace kiln::server
