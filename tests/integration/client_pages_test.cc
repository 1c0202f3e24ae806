// SPDX-License-Identifier: MIT
// The client library against a daemon whose lists never end, or that says nothing: no call stays
// with it.
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "client/client.h"
#include "client/connection.h"
#include "compiler/base/test_directory.h"
#include "compiler/base/threads/thread.h"
#include "proto/kiln/v1/admin.grpc.pb.h"
#include "proto/kiln/v1/batch.grpc.pb.h"
#include "proto/kiln/v1/compile.grpc.pb.h"

namespace kiln::client {
namespace {

// Every page leads to itself.
template <class Reply>
grpc::Status Endless(Reply* reply) {
  reply->set_next_page_token("here");
  return grpc::Status::OK;
}

class Admin final : public v1::AdminService::Service {
  grpc::Status ListJobs(grpc::ServerContext*, const v1::ListJobsRequest*,
                        v1::ListJobsReply* reply) override {
    return Endless(reply);
  }
  grpc::Status ListPins(grpc::ServerContext*, const v1::ListPinsRequest*,
                        v1::ListPinsReply* reply) override {
    return Endless(reply);
  }
};

class Batches final : public v1::BatchService::Service {
  grpc::Status ListBatches(grpc::ServerContext*, const v1::ListBatchesRequest*,
                           v1::ListBatchesReply* reply) override {
    return Endless(reply);
  }
  grpc::Status ListBatchItems(grpc::ServerContext*, const v1::ListBatchItemsRequest*,
                              v1::ListBatchItemsReply* reply) override {
    ++asked;
    if (pages == 0) {
      return Endless(reply);
    }
    (void)reply->add_items();
    reply->set_next_page_token(asked < pages ? std::to_string(asked) : "");
    return grpc::Status::OK;
  }

 public:
  int pages = 0;  // of items, one each; 0: without end and without items
  int asked = 0;
};

class Compiles final : public v1::CompileService::Service {
  grpc::Status ListVariants(grpc::ServerContext*, const v1::ListVariantsRequest*,
                            v1::ListVariantsReply* reply) override {
    return Endless(reply);
  }
};

class ClientPages : public testing::Test {
 protected:
  ClientPages() {
    const std::string address = "unix:" + folder.path().string() + "/s";
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(&admin);
    builder.RegisterService(&batches);
    builder.RegisterService(&compiles);
    server = builder.BuildAndStart();
    client = Client::Open(address);
  }

  TestDirectory folder;
  Admin admin;
  Batches batches;
  Compiles compiles;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<Client> client;
};

// Every list that a client reads to its end.
TEST_F(ClientPages, WithoutEnd_AreAnError) {
  const auto reason = [](const auto& result) {
    return result.ok() ? std::string("none") : result.error().reason;
  };
  const struct {
    const char* what;
    std::function<std::string()> call;
  } table[] = {
      {"jobs", [&] { return reason(client->Jobs()); }},
      {"pins", [&] { return reason(client->Pins()); }},
      {"batches", [&] { return reason(client->ListBatches({})); }},
      {"batch ids", [&] { return reason(client->BatchIds()); }},
      {"items",
       [&] {
         return reason(client->EachBatchItem(std::string(32, 'a'), {},
                                             [](const BatchItem&) { return Result<void>(); }));
       }},
      {"variants",
       [&] {
         return reason(client->EachPageOfVariants(
             {}, {}, 10, [](std::span<const VariantRow>) { return Client::More::kWanted; }));
       }},
  };
  for (const auto& row : table) {
    EXPECT_EQ(row.call(), "PAGES_WITHOUT_END") << row.what;
  }
}

// Two pages are told of and not kept: the second is asked for when the first was taken.
TEST_F(ClientPages, Items_ComePageByPage) {
  batches.pages = 2;
  std::vector<int> asked;
  EXPECT_TRUE(client
                  ->EachBatchItem(std::string(32, 'a'), {},
                                  [&](const BatchItem&) {
                                    asked.push_back(batches.asked);
                                    return Result<void>();
                                  })
                  .ok());
  EXPECT_EQ(asked, (std::vector<int>{1, 2}));
}

TEST_F(ClientPages, ItemThatIsNotTaken_EndsTheList) {
  batches.pages = 1'000'000;
  const Result<void> ended =
      client->EachBatchItem(std::string(32, 'a'), {}, [&](const BatchItem&) -> Result<void> {
        return Error{.code = ErrorCode::kAborted, .context = "enough", .reason = "ENOUGH"};
      });
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().reason, "ENOUGH");
  EXPECT_EQ(batches.asked, 1);
}

// A daemon that was stopped, or that the network keeps away, sends nothing, as one that has nothing
// to tell. Accepts, says that it speaks HTTP/2, and is silent from then on, questions included.
class SilentPeer {
 public:
  explicit SilentPeer(const std::string& path) : listener_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_, 16), 0);
    thread_ = Thread({.name = "silent"}, [this](const std::stop_token&) { Serve(); });
  }
  ~SilentPeer() {
    (void)shutdown(listener_, SHUT_RDWR);
    thread_.join();
    for (const int fd : open_) {
      (void)close(fd);
    }
    (void)close(listener_);
  }

 private:
  void Serve() {
    for (int fd = -1; (fd = accept(listener_, nullptr, nullptr)) >= 0;) {
      const char settings[9] = {0, 0, 0, 4, 0, 0, 0, 0, 0};
      EXPECT_EQ(send(fd, settings, sizeof settings, MSG_NOSIGNAL), 9);
      open_.push_back(fd);
    }
  }

  const int listener_;
  std::vector<int> open_;  // of the thread, then of the destructor
  Thread thread_;
};

TEST(ClientKeepalive, StreamOfASilentPeer_Ends) {
  const TestDirectory folder;
  const std::string path = folder.path().string() + "/s";
  const SilentPeer peer(path);
  const auto connection = Connection::Open(
      "unix:" + path,
      {.after = std::chrono::milliseconds(50), .answer = std::chrono::milliseconds(50)});
  Context context;
  v1::WatchBatchRequest request;
  const auto reader = connection->batch->WatchBatch(&context.grpc, request);
  v1::BatchEvent event;
  EXPECT_FALSE(reader->Read(&event));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(ClientPages, WhoHasEnough_IsNotKept) {
  int pages = 0;
  EXPECT_TRUE(client
                  ->EachPageOfVariants({}, {}, 10,
                                       [&](std::span<const VariantRow>) {
                                         ++pages;
                                         return Client::More::kEnough;
                                       })
                  .ok());
  EXPECT_EQ(pages, 1);
}

}  // namespace
}  // namespace kiln::client
