// SPDX-License-Identifier: MIT
// The client library against a daemon that is not ready: how often it asks. spec/daemon 2.4, 2.5
#include <atomic>
#include <string>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "client/client.h"
#include "compiler/base/test_directory.h"
#include "proto/kiln/v1/admin.grpc.pb.h"
#include "proto/kiln/v1/compile.grpc.pb.h"

namespace kiln::client {
namespace {

// Fails `failures` times, then answers.
class Reluctant final : public v1::CompileService::Service {
 public:
  grpc::Status ListOptions(grpc::ServerContext* context, const v1::ListOptionsRequest*,
                           v1::ListOptionsReply*) override {
    const auto& metadata = context->client_metadata();
    has_names = metadata.contains("kiln-client") && metadata.contains("kiln-api");
    if (calls++ >= failures) {
      return grpc::Status::OK;
    }
    if (!pushback.empty()) {
      context->AddTrailingMetadata("grpc-retry-pushback-ms", pushback);
    }
    return {code, "not now"};
  }

  grpc::StatusCode code = grpc::StatusCode::UNAVAILABLE;
  int failures = 0;
  std::string pushback;
  std::atomic<int> calls = 0;
  std::atomic<bool> has_names = false;
};

class Admin final : public v1::AdminService::Service {
 public:
  grpc::Status GetServerInfo(grpc::ServerContext*, const v1::GetServerInfoRequest*,
                             v1::ServerInfo*) override {
    ++calls;
    return {grpc::StatusCode::UNAVAILABLE, "not now"};
  }
  std::atomic<int> calls = 0;
};

class ClientRetry : public testing::Test {
 protected:
  ClientRetry() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + folder.path().string() + "/s",
                             grpc::InsecureServerCredentials());
    builder.RegisterService(&compile);
    builder.RegisterService(&admin);
    server = builder.BuildAndStart();
    client = Client::Open("unix:" + folder.path().string() + "/s");
  }

  TestDirectory folder;
  Reluctant compile;
  Admin admin;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<Client> client;
};

TEST_F(ClientRetry, Refusals_AreRepeatedUpToFiveTimes) {
  using C = grpc::StatusCode;
  const struct {
    const char* what;
    C code;
    int failures;
    const char* pushback;
    int calls;
    bool ok;
  } table[] = {
      {"nothing is wrong", C::UNAVAILABLE, 0, "", 1, true},
      {"starting", C::UNAVAILABLE, 2, "10", 3, true},
      {"not yet up", C::UNAVAILABLE, 1, "", 2, true},
      {"a full queue", C::RESOURCE_EXHAUSTED, 2, "10", 3, true},
      {"for ever", C::UNAVAILABLE, 100, "10", 5, false},
      {"a limit, where repeating is of no use", C::RESOURCE_EXHAUSTED, 100, "-1", 1, false},
      {"wrong requests", C::INVALID_ARGUMENT, 100, "", 1, false},
      {"missing sources", C::FAILED_PRECONDITION, 100, "", 1, false},
      {"bugs", C::INTERNAL, 100, "", 1, false}};
  for (const auto& row : table) {
    compile.code = row.code;
    compile.failures = row.failures;
    compile.pushback = row.pushback;
    compile.calls = 0;
    const Result<OptionList> listed = client->ListOptions(Program{.name = "p"});
    EXPECT_EQ(listed.ok(), row.ok) << row.what;
    EXPECT_EQ(compile.calls, row.calls) << row.what;
    if (!row.ok) {
      EXPECT_EQ(static_cast<int>(listed.error().code), static_cast<int>(row.code)) << row.what;
    }
  }
  EXPECT_TRUE(compile.has_names);
}

TEST_F(ClientRetry, WhoAsksForTheDaemonItself_IsToldAtOnce) {
  EXPECT_FALSE(client->Ping(std::chrono::seconds(5)).ok());
  EXPECT_EQ(admin.calls, 1);
}

}  // namespace
}  // namespace kiln::client
