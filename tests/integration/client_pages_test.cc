// SPDX-License-Identifier: MIT
// The client library against a daemon whose lists never end: no call stays with it.
#include <functional>
#include <string>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "client/client.h"
#include "compiler/base/test_directory.h"
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
    return Endless(reply);
  }
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
      {"items", [&] { return reason(client->BatchItems(std::string(32, 'a'), {})); }},
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
