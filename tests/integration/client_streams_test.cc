// SPDX-License-Identifier: MIT
// The client library and the verbs on it against a daemon, or somebody between, that sends other
// bytes than it names, more than was asked for, or nothing: what it sends is not taken for what it
// says, and no stream fills memory or disk.
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "cache/store.h"
#include "client/cli/batch/batch_run.h"
#include "client/cli/pack/build.h"
#include "client/client.h"
#include "compiler/base/test_directory.h"
#include "proto/kiln/v1/admin.grpc.pb.h"
#include "proto/kiln/v1/batch.grpc.pb.h"
#include "proto/kiln/v1/compile.grpc.pb.h"
#include "proto/kiln/v1/pack.grpc.pb.h"

namespace kiln::client {
namespace {

constexpr int kEndless = 20'000;  // steps of a stream that has no end of its own
const std::string kBatch(32, 'a');

std::string ReasonOf(const auto& result) {
  return result.ok() ? "none" : result.error().reason.empty() ? "corrupt" : result.error().reason;
}

void Name(const Digest& digest, v1::Digest* out) {
  out->set_id(std::string(digest.id.bytes.begin(), digest.id.bytes.end()));
  out->set_size(digest.size);
}

// A chunk that arrives as it is sent: the checksum is that of the bytes, whatever the id is.
void AddBlob(const Digest& named, const std::string& bytes, v1::FetchReply& reply) {
  v1::BlobChunk& chunk = *reply.add_blobs();
  Name(named, chunk.mutable_digest());
  chunk.set_data(bytes);
  const Hash128 sum = cache::ContentSum(named.id, AsBytes(bytes));
  chunk.set_sum(std::string(sum.bytes.begin(), sum.bytes.end()));
}

void AddOutcome(const Digest& metadata, v1::FetchReply& reply) {
  v1::Outcome& outcome = *reply.add_outcomes();
  outcome.set_kind(v1::Outcome::OK);
  Name(metadata, outcome.add_artifacts()->mutable_metadata());
}

using FetchStream = std::function<bool(const v1::FetchReply&)>;

// Plays what a test has put into it, and notes until when each call is waited for.
class Compiles final : public v1::CompileService::Service {
 public:
  std::function<void(const FetchStream&)> fetch;
  std::map<std::string, std::chrono::system_clock::time_point>* until = nullptr;

 private:
  grpc::Status Fetch(grpc::ServerContext*, const v1::FetchRequest*,
                     grpc::ServerWriter<v1::FetchReply>* writer) override {
    fetch([&](const v1::FetchReply& reply) { return writer->Write(reply); });
    v1::FetchReply end;
    end.mutable_done();
    writer->Write(end);
    return grpc::Status::OK;
  }
  grpc::Status Inspect(grpc::ServerContext*, const v1::InspectRequest*,
                       grpc::ServerWriter<v1::InspectReply>* writer) override {
    v1::InspectReply reply;
    reply.set_text(std::string(1 << 20, 'x'));
    for (int i = 0; i < kEndless && writer->Write(reply); ++i) {
    }
    return grpc::Status::OK;
  }
  grpc::Status Note(const char* call, const grpc::ServerContext& context) {
    (*until)[call] = context.deadline();
    return grpc::Status::OK;
  }
  grpc::Status ListOptions(grpc::ServerContext* context, const v1::ListOptionsRequest*,
                           v1::ListOptionsReply*) override {
    return Note("ListOptions", *context);
  }
  grpc::Status CountVariants(grpc::ServerContext* context, const v1::CountVariantsRequest*,
                             v1::CountVariantsReply*) override {
    return Note("CountVariants", *context);
  }
  grpc::Status Explain(grpc::ServerContext* context, const v1::ExplainRequest*,
                       v1::ExplainReply*) override {
    return Note("Explain", *context);
  }
};

class Admin final : public v1::AdminService::Service {
 public:
  std::map<std::string, std::chrono::system_clock::time_point>* until = nullptr;

 private:
  grpc::Status GetStatus(grpc::ServerContext* context, const v1::GetStatusRequest*,
                         v1::ServerStatus*) override {
    (*until)["GetStatus"] = context->deadline();
    return grpc::Status::OK;
  }
  grpc::Status ListPins(grpc::ServerContext* context, const v1::ListPinsRequest*,
                        v1::ListPinsReply*) override {
    (*until)["ListPins"] = context->deadline();
    return grpc::Status::OK;
  }
};

class Batches final : public v1::BatchService::Service {
 public:
  std::function<void(const std::function<bool(const v1::BatchEvent&)>&)> watch;
  std::map<std::string, std::chrono::system_clock::time_point>* until = nullptr;
  v1::BatchEvent::Final end;  // of every batch

 private:
  grpc::Status WatchBatch(grpc::ServerContext*, const v1::WatchBatchRequest*,
                          grpc::ServerWriter<v1::BatchEvent>* writer) override {
    watch([&](const v1::BatchEvent& event) { return writer->Write(event); });
    v1::BatchEvent last;
    *last.mutable_final() = end;
    writer->Write(last);
    return grpc::Status::OK;
  }
  grpc::Status ListBatches(grpc::ServerContext* context, const v1::ListBatchesRequest*,
                           v1::ListBatchesReply*) override {
    (*until)["ListBatches"] = context->deadline();
    return grpc::Status::OK;
  }
  grpc::Status GetBatch(grpc::ServerContext* context, const v1::GetBatchRequest*,
                        v1::Batch*) override {
    (*until)["GetBatch"] = context->deadline();
    return grpc::Status::OK;
  }
};

class Packs final : public v1::PackService::Service {
 public:
  uint64_t said = 0, sent = 0;  // bytes of the pack

 private:
  grpc::Status BuildPack(grpc::ServerContext*, const v1::BuildPackRequest*,
                         grpc::ServerWriter<v1::BuildPackReply>* writer) override {
    v1::BuildPackReply reply;
    reply.mutable_done()->set_pack_id(std::string(16, 'p'));
    reply.mutable_done()->set_size(said);
    writer->Write(reply);
    return grpc::Status::OK;
  }
  grpc::Status ReadPack(grpc::ServerContext*, const v1::ReadPackRequest*,
                        grpc::ServerWriter<v1::ReadPackReply>* writer) override {
    constexpr uint64_t kPart = 1'000;
    v1::ReadPackReply reply;
    for (uint64_t at = 0; at < sent; at += kPart) {
      reply.set_offset(at);
      reply.set_data(std::string(std::min(kPart, sent - at), 'x'));
      if (!writer->Write(reply)) {
        break;
      }
    }
    return grpc::Status::OK;
  }
};

class ClientStreams : public testing::Test {
 protected:
  ClientStreams() {
    compiles.until = admin.until = batches.until = &until;
    const std::string address = "unix:" + folder.path().string() + "/s";
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    // Else a thread of the server may hear of a cancelled stream late.
    builder.SetSyncServerOption(grpc::ServerBuilder::CQ_TIMEOUT_MSEC, 100);
    builder.RegisterService(&compiles);
    builder.RegisterService(&admin);
    builder.RegisterService(&batches);
    builder.RegisterService(&packs);
    server = builder.BuildAndStart();
    client = Client::Open(address);
  }

  ~ClientStreams() override {
    client.reset();
    server->Shutdown(std::chrono::system_clock::now());  // what still writes is cut off
  }

  Result<FetchDone> FetchWith(std::function<void(const FetchStream&)> stream) {
    compiles.fetch = std::move(stream);
    return client->FetchBatch(kBatch, {},
                              {.on_outcome = [this](const Outcome&) { ++outcomes; },
                               .on_blob = [this](const FetchedBlob&) -> Result<void> {
                                 ++blobs;
                                 return {};
                               }});
  }

  TestDirectory folder;
  std::map<std::string, std::chrono::system_clock::time_point> until;
  Compiles compiles;
  Admin admin;
  Batches batches;
  Packs packs;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<Client> client;
  int outcomes = 0, blobs = 0;
};

TEST_F(ClientStreams, ContentThatIsWhatItsIdSays_IsTaken) {
  const Digest digest = DigestOf(std::string("code"));
  EXPECT_EQ(ReasonOf(FetchWith([&](const FetchStream& write) {
              v1::FetchReply reply;
              AddBlob(digest, "code", reply);
              AddOutcome(digest, reply);
              write(reply);
            })),
            "none");
  EXPECT_EQ(blobs, 1);
  EXPECT_EQ(outcomes, 1);
}

// Somebody between changes the bytes and counts the checksum again.
TEST_F(ClientStreams, OtherBytesUnderAnId_AreNotHandedOver) {
  EXPECT_EQ(ReasonOf(FetchWith([](const FetchStream& write) {
              v1::FetchReply reply;
              AddBlob(DigestOf(std::string("code")), "evil", reply);
              write(reply);
            })),
            "corrupt");
  EXPECT_EQ(blobs, 0);
}

TEST_F(ClientStreams, ContentThatNoResultNames_EndsTheFetch) {
  EXPECT_EQ(ReasonOf(FetchWith([](const FetchStream& write) {
              for (int i = 0; i < kEndless; ++i) {
                const std::string bytes = std::to_string(i);
                v1::FetchReply reply;
                AddBlob(DigestOf(bytes), bytes, reply);
                if (!write(reply)) {
                  return;
                }
              }
            })),
            "MORE_THAN_ASKED_FOR");
  EXPECT_EQ(blobs, 4'096);
}

// A whole blob begins at its beginning.
TEST_F(ClientStreams, BlobAtAnOffset_IsNotTaken) {
  EXPECT_EQ(ReasonOf(FetchWith([](const FetchStream& write) {
              v1::FetchReply reply;
              AddBlob(DigestOf(std::string("code")), "code", reply);
              reply.mutable_blobs(0)->set_offset(UINT64_MAX);
              write(reply);
            })),
            "corrupt");
  EXPECT_EQ(blobs, 0);
}

// The sizes alone fill the room: nothing of them has to come.
TEST_F(ClientStreams, BegunBlobs_EndTheFetch) {
  EXPECT_EQ(ReasonOf(FetchWith([](const FetchStream& write) {
              for (int i = 0; i < kEndless; ++i) {
                Digest digest = DigestOf(std::to_string(i));
                digest.size = uint64_t{256} << 20;
                v1::FetchReply reply;
                AddBlob(digest, "x", reply);
                if (!write(reply)) {
                  return;
                }
              }
            })),
            "MORE_THAN_ASKED_FOR");
}

TEST_F(ClientStreams, ContentThatComesAgain_EndsTheFetch) {
  const Digest digest = DigestOf(std::string("code"));
  EXPECT_EQ(ReasonOf(FetchWith([&](const FetchStream& write) {
              v1::FetchReply reply;
              AddBlob(digest, "code", reply);
              AddOutcome(digest, reply);
              for (int i = 0; i < kEndless && write(reply); ++i) {
              }
            })),
            "MORE_THAN_ASKED_FOR");
  EXPECT_EQ(blobs, 1);
}

// As many results as variants, and no more.
// gRPC itself would look at its size when all of it has come.
TEST_F(ClientStreams, MessageWithoutEnd_IsNotTakenToItsEnd) {
  const auto fetch = [&](size_t bytes) {
    return FetchWith([bytes](const FetchStream& write) {
      v1::FetchReply reply;
      const std::string data(bytes, 'x');
      AddBlob(DigestOf(data), data, reply);
      AddOutcome(DigestOf(data), reply);
      write(reply);
    });
  };
  EXPECT_EQ(ReasonOf(fetch(size_t{60} << 20)), "none");
  const Result<FetchDone> done = fetch(size_t{192} << 20);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(done.error().reason, "LIMIT_EXCEEDED");
  EXPECT_EQ(done.error().context, "the daemon sends more at once than a client takes, 128 MiB");
}

TEST_F(ClientStreams, ResultsBeyondWhatWasAskedFor_EndTheFetch) {
  const std::vector<std::vector<Option>> variants(3);
  for (const int sent : {3, 4, kEndless}) {
    int taken = 0;
    compiles.fetch = [&](const FetchStream& write) {
      v1::FetchReply reply;
      reply.add_outcomes();
      for (int i = 0; i < sent && write(reply); ++i) {
      }
    };
    const Result<FetchDone> done =
        client->FetchVariants("p", {}, variants, {},
                              {.on_outcome = [&](const Outcome&) { ++taken; },
                               .on_blob = [](const FetchedBlob&) { return Result<void>(); }});
    EXPECT_EQ(ReasonOf(done), sent == 3 ? "none" : "MORE_THAN_ASKED_FOR") << sent;
    EXPECT_EQ(taken, 3) << sent;
  }
}

TEST_F(ClientStreams, ViewsWithoutEnd_AreAnError) {
  const std::vector<std::string> views{"ir"};
  EXPECT_EQ(ReasonOf(client->Inspect(Client::InspectSignature{kBatch}, views)),
            "MORE_THAN_ASKED_FOR");
}

TEST_F(ClientStreams, LongMessages_AreCut) {
  for (const size_t size : {size_t{4'096}, size_t{4'097}, size_t{2'000'000}}) {
    batches.watch = [size](const auto& write) {
      v1::BatchEvent event;
      event.set_message(std::string(size, 'm'));
      write(event);
    };
    std::string said;
    (void)client->WatchBatch(kBatch, [&](const BatchEvent& event) {
      if (const auto* text = std::get_if<std::string>(&event)) {
        said = *text;
      }
      return Next::kGoOn;
    });
    EXPECT_EQ(said, size == 4'096
                        ? std::string(size, 'm')
                        : std::string(4'096, 'm') + " [cut: " + std::to_string(size) + " bytes]");
  }
}

// The first ones are kept and shown.
TEST_F(ClientStreams, FailuresWithoutEnd_AreCounted) {
  batches.watch = [](const auto& write) {
    v1::BatchEvent event;
    event.mutable_item()->set_program("rock");
    event.mutable_item()->mutable_outcome()->set_kind(v1::Outcome::SOURCE_ERROR);
    for (int i = 0; i < kEndless && write(event); ++i) {
    }
  };
  int shown = 0;
  const cli::BatchFollower following{.name = "p",
                                     .restart = [] { return Result<void>(); },
                                     .failed = [&](const BatchItem&) { ++shown; }};
  cli::Global global;
  global.progress = "none";
  testing::internal::CaptureStderr();
  const Result<cli::BatchOutcome> outcome = cli::FollowBatch(global, kBatch, following, *client);
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->failures.size(), 10'000u);
  EXPECT_EQ(shown, 10'000);
  EXPECT_NE(said.find("and 10000 more failures"), std::string::npos) << said;
}

// What a batch is said to end with is believed as far as it can be true.
TEST_F(ClientStreams, ExitCodeOfABatch_IsZeroOnlyIfAllIsWell) {
  const struct {
    v1::Batch::State state;
    uint64_t failed;
    bool item;  // a failure was told
    uint32_t said, taken;
  } table[] = {
      {v1::Batch::DONE, 0, false, 0, 0},
      {v1::Batch::DONE, 2, false, 1, 1},
      {v1::Batch::FAILED, 0, false, 2, 2},
      {v1::Batch::DONE, 0, false, 5, 5},
      {v1::Batch::CANCELLED, 0, false, 6, 6},
      {v1::Batch::DONE, 0, false, 8, 8},
      {v1::Batch::FAILED, 0, false, 70, 70},
      {v1::Batch::DONE, 2, false, 0, 8},
      {v1::Batch::FAILED, 0, false, 0, 8},
      {v1::Batch::CANCELLED, 0, false, 0, 8},
      {static_cast<v1::Batch::State>(77), 0, false, 0, 8},
      {v1::Batch::DONE, 0, true, 0, 8},
      {v1::Batch::DONE, 0, false, 256, 8},
      {v1::Batch::DONE, 0, false, 130, 8},
      {v1::Batch::DONE, 0, false, 3, 8},
      {v1::Batch::DONE, 0, false, UINT32_MAX, 8},
  };
  for (const auto& row : table) {
    batches.watch = [&](const auto& write) {
      v1::BatchEvent item;
      item.mutable_item()->set_program("rock");
      (void)(!row.item || write(item));
    };
    batches.end.set_state(row.state);
    batches.end.mutable_counts()->set_failed(row.failed);
    batches.end.set_exit_hint(row.said);
    const cli::BatchFollower following{
        .name = "p", .restart = [] { return Result<void>(); }, .failed = [](const BatchItem&) {}};
    cli::Global global;
    global.progress = "none";
    testing::internal::CaptureStderr();
    const Result<cli::BatchOutcome> outcome = cli::FollowBatch(global, kBatch, following, *client);
    const std::string said = testing::internal::GetCapturedStderr();
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->final.exit_hint, row.taken) << row.state << " " << row.said;
    const bool changed = row.taken != row.said && !row.item;
    EXPECT_EQ(said.find("which cannot be") != std::string::npos, changed) << said;
  }
}

// A download that is not what was announced leaves nothing, and ends where it is too long.
TEST_F(ClientStreams, PackOfAnotherSize_IsNotWritten) {
  const struct {
    const char* what;
    uint64_t said, sent;
    const char* reason;
  } table[] = {
      {"as said", 5'000, 5'000, "none"},
      {"longer", 5'000, 5'001, "PACK_SIZE"},
      {"without end", 5'000, uint64_t{1} << 40, "PACK_SIZE"},
      {"shorter", 5'000, 4'999, "PACK_SIZE"},
      {"more than a pack may have", (uint64_t{64} << 30) + 1, 5'000, "PACK_SIZE"},
  };
  for (const auto& row : table) {
    packs.said = row.said;
    packs.sent = row.sent;
    const std::filesystem::path out = folder.path() / "out" / "all.kpack";
    cli::PackBuildArguments arguments;
    arguments.out = out.string();
    const cli::Project project;
    EXPECT_EQ(ReasonOf(cli::PackBatch(*client, project, kBatch, arguments)), row.reason)
        << row.what;
    EXPECT_EQ(std::filesystem::exists(out), row.reason == std::string("none")) << row.what;
    std::filesystem::remove(out);
    std::error_code error;
    EXPECT_TRUE(!std::filesystem::exists(out.parent_path()) ||
                std::filesystem::is_empty(out.parent_path(), error))
        << row.what;
  }
}

// A daemon that answers one call and is silent from then on keeps nobody for ever.
TEST_F(ClientStreams, CallsWithOneAnswer_HaveADeadlineOfTheClientsOwn) {
  (void)client->Status();
  (void)client->Pins();
  (void)client->ListBatches({});
  (void)client->GetBatch(kBatch);
  (void)client->ListOptions({});
  (void)client->CountVariants({}, {});
  (void)client->Explain(Client::ExplainLast{1});
  const auto latest = std::chrono::system_clock::now() + std::chrono::seconds(60);
  for (const char* const call : {"GetStatus", "ListPins", "ListBatches", "GetBatch", "ListOptions",
                                 "CountVariants", "Explain"}) {
    ASSERT_TRUE(until.contains(call)) << call;
    EXPECT_LE(until[call], latest + std::chrono::seconds(1)) << call;
  }
}

}  // namespace
}  // namespace kiln::client
